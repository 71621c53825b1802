"""A tea shop's books as a SQLite database in memory; amounts are whole cents."""

import datetime
import random
import sqlite3
from functools import cache

CUSTOMER_COUNT = 140
ORDER_COUNT = 900
FIRST_DAY = datetime.date(2025, 9, 1)
DAYS = 180
SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT, since TEXT);
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, price_cents INT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INT, day TEXT, state TEXT);
CREATE TABLE order_lines (order_id INT, product_id INT, quantity INT, paid_cents INT);
CREATE TABLE refunds (order_id INT, day TEXT, reason TEXT, refund_cents INT);
"""
FIRST_NAMES = [
    "Ada",
    "Bruno",
    "Chiara",
    "Deniz",
    "Emil",
    "Fatou",
    "Greta",
    "Hugo",
    "Ida",
    "Jonas",
    "Kaya",
    "Lena",
]
LAST_NAMES = [
    "Albers",
    "Brandt",
    "Costa",
    "Dupont",
    "Eriksen",
    "Fischer",
    "Greco",
    "Horvat",
    "Ito",
    "Jansen",
]
CITIES = ["Ghent", "Porto", "Graz", "Lyon", "Turin", "Malmo", "Cork", "Leipzig"]
KINDS = {
    "green": (["Dragon Well", "Jade Cloud", "Spring Needle", "Mist Peak"], 980),
    "black": (["Red Thread", "Smoke Pine", "Estate Gold", "Night Train"], 760),
    "oolong": (["Iron Mercy", "Cliff Rose", "Milk Stone", "Phoenix Branch"], 1240),
    "herbal": (["Verbena", "Lime Flower", "Hill Mint", "Rooibos Star"], 520),
    "ware": (["Clay Pot", "Glass Cup", "Bamboo Whisk", "Iron Kettle"], 3900),
}
REASONS = ["arrived broken", "wrong item", "too late", "changed my mind"]


@cache
def shop() -> sqlite3.Connection:
    """The database; nobody writes to it once it stands."""
    rng = random.Random("a tea shop")
    books = sqlite3.connect(":memory:")
    books.executescript(SCHEMA)
    books.executemany("INSERT INTO customers VALUES (?,?,?,?)", _customers(rng))
    products = _products(rng)
    books.executemany("INSERT INTO products VALUES (?,?,?,?)", products)
    for number in range(1, ORDER_COUNT + 1):
        _add_order(books, rng, 10_000 + number, [row[3] for row in products])
    books.execute("PRAGMA query_only = ON")
    return books


def _customers(rng: random.Random) -> list[tuple[int, str, str, str]]:
    return [
        (
            number,
            f"{rng.choice(FIRST_NAMES)} {rng.choice(LAST_NAMES)}",
            rng.choice(CITIES),
            (FIRST_DAY - datetime.timedelta(days=rng.randrange(900))).isoformat(),
        )
        for number in range(1, CUSTOMER_COUNT + 1)
    ]


def _products(rng: random.Random) -> list[tuple[int, str, str, int]]:
    named = [(kind, name, price) for kind, (ns, price) in KINDS.items() for name in ns]
    return [
        (number, name, kind, price + 10 * rng.randrange(-20, 60))
        for number, (kind, name, price) in enumerate(named, start=1)
    ]


def _add_order(
    books: sqlite3.Connection, rng: random.Random, order_id: int, prices: list[int]
) -> None:
    day = FIRST_DAY + datetime.timedelta(days=(order_id - 10_001) * DAYS // ORDER_COUNT)
    # Few customers buy often: the square of a draw leans towards the first ones.
    customer = 1 + int(CUSTOMER_COUNT * rng.random() ** 2)
    state = rng.choices(["delivered", "returned", "lost", "open"], [86, 7, 2, 5])[0]
    books.execute(
        "INSERT INTO orders VALUES (?,?,?,?)",
        (order_id, customer, day.isoformat(), state),
    )
    total_cents = 0
    for product in rng.sample(range(len(prices)), rng.randrange(1, 5)):
        quantity = rng.randrange(1, 4)
        total_cents += quantity * prices[product]
        line = (order_id, product + 1, quantity, quantity * prices[product])
        books.execute("INSERT INTO order_lines VALUES (?,?,?,?)", line)
    if state in ("returned", "lost"):
        back = (day + datetime.timedelta(days=rng.randrange(3, 20))).isoformat()
        refund = (order_id, back, rng.choice(REASONS), total_cents)
        books.execute("INSERT INTO refunds VALUES (?,?,?,?)", refund)
