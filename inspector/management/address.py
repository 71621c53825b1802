"""Where the inspector of this data folder listens: `up` notes it, others ask."""

from django.conf import settings

FILE = "address"


def address_note(address: str) -> None:
    """Remember the address that the server was started on."""
    (settings.DATA_DIR / FILE).write_text(f"{address}\n")


def address_known() -> str:
    """The address last started on, or else the one that settings name."""
    file = settings.DATA_DIR / FILE
    return file.read_text().strip() if file.is_file() else settings.PUBLIC_URL
