"""A browser without an engine: keeps cookies, follows redirects, reads pages."""

import http.cookiejar
import urllib.request


class PlainBrowser:
    """Opens addresses as one signed-in person would."""

    def __init__(self) -> None:
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        direct = urllib.request.ProxyHandler({})
        self._opener = urllib.request.build_opener(direct, cookies)

    def open(self, address: str) -> tuple[str, str, str]:
        """The address where it ended, the content type, and the text."""
        with self._opener.open(address, timeout=30) as answer:
            kind = answer.headers.get_content_type()
            return answer.url, kind, answer.read().decode()
