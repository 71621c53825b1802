"""An analyst that answers questions about a tea shop from its database."""

from collections import Counter

from tests.support.demo.material.shop import shop
from tests.support.demo.scenario import TEXT, Agent, Plan, Scenario, Turn, tool
from tests.support.standin import call, calls

SYSTEM = (
    "You answer questions about a tea shop from its SQLite database. Look at the "
    "tables first, run queries, and state amounts in euros. Never guess a figure."
)


def list_tables() -> str:
    rows = shop().execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
    return "\n".join(row[0] for row in rows)


def run_query(sql: str) -> str:
    """Header and rows, tab-separated."""
    cursor = shop().execute(sql)
    rows = [[column[0] for column in cursor.description], *cursor.fetchall()]
    return "\n".join("\t".join(map(str, row)) for row in rows)


AGENT = Agent(
    "shop-analyst",
    SYSTEM,
    (
        tool(list_tables, "Show how every table was created."),
        tool(
            run_query,
            "Run one SELECT statement; gives a header line and rows, tab-separated.",
            sql=TEXT,
        ),
    ),
)


def rows_of(result: str) -> list[list[str]]:
    """The rows of a query's result, without its header."""
    return [line.split("\t") for line in result.splitlines()[1:]]


def euros(cents: str | int) -> str:
    return f"€{int(cents) / 100:,.2f}"


REVENUE_BY_MONTH = """
SELECT substr(o.day, 1, 7) AS month, SUM(l.paid_cents) AS cents, COUNT(DISTINCT o.id)
FROM orders o JOIN order_lines l ON l.order_id = o.id GROUP BY month ORDER BY month
"""
BEST_CUSTOMERS = """
SELECT c.id, c.name, c.city, SUM(l.paid_cents) AS cents FROM customers c
JOIN orders o ON o.customer_id = c.id JOIN order_lines l ON l.order_id = o.id
GROUP BY c.id ORDER BY cents DESC, c.id LIMIT {limit}
"""
ORDERS_OF = """
SELECT o.id, o.day, o.state, p.name, l.quantity, l.paid_cents FROM orders o
JOIN order_lines l ON l.order_id = o.id JOIN products p ON p.id = l.product_id
WHERE o.customer_id = {customer} ORDER BY o.id, p.id
"""
LINES_OF_MONTH = """
SELECT o.id, o.day, c.name, p.name, l.quantity, l.paid_cents FROM orders o
JOIN customers c ON c.id = o.customer_id JOIN order_lines l ON l.order_id = o.id
JOIN products p ON p.id = l.product_id WHERE o.day LIKE '{month}%' ORDER BY o.id, p.id
"""
REFUNDS_BY_REASON = """
SELECT reason, COUNT(*), SUM(refund_cents) FROM refunds
WHERE day LIKE '{month}%' GROUP BY reason ORDER BY reason
"""
REFUNDS_OF_DAYS = """
SELECT r.order_id, r.day, r.reason, r.refund_cents, c.name, c.city FROM refunds r
JOIN orders o ON o.id = r.order_id JOIN customers c ON c.id = o.customer_id
WHERE r.day BETWEEN '{month}-{first:02}' AND '{month}-{last:02}'
ORDER BY r.day, r.order_id
"""
SALES_OF_PRODUCT = """
SELECT o.day, o.id, l.quantity, l.paid_cents FROM orders o
JOIN order_lines l ON l.order_id = o.id WHERE l.product_id = {product} AND
o.day < '2025-11-15' ORDER BY o.day, o.id
"""
PRODUCTS = "SELECT id, name, kind, price_cents FROM products ORDER BY id"
MONTHS = ("2025-09", "2025-10", "2025-11", "2025-12", "2026-01", "2026-02")


def revenue_by_month() -> Plan:
    yield call("list_tables")
    (table,) = yield call("run_query", sql=REVENUE_BY_MONTH.strip())
    best = max(rows_of(table), key=lambda row: int(row[1]))
    return f"The best month was {best[0]}: {euros(best[1])} from {best[2]} orders."


def wrong_table_first() -> Plan:
    """Guesses a table that is not there, reads the error and asks properly."""
    (answer,) = yield call("run_query", sql="SELECT SUM(amount) FROM sales")
    if answer.startswith("error"):
        yield call("list_tables")
    (total,) = yield call("run_query", sql="SELECT SUM(paid_cents) FROM order_lines")
    return f"Customers paid {euros(rows_of(total)[0][0])} in all."


def best_customers(count: int) -> Plan:
    """Looks at each of the best customers, one at a time."""
    yield call("list_tables")
    (table,) = yield call("run_query", sql=BEST_CUSTOMERS.format(limit=count).strip())
    told = []
    for customer, name, city, cents in rows_of(table):
        sql = ORDERS_OF.format(customer=customer).strip()
        (orders,) = yield call("run_query", sql=sql)
        rows = rows_of(orders)
        placed = len({row[0] for row in rows})
        told.append(f"{name} ({city}): {euros(cents)} in {placed} orders")
    return "Best customers, by what they paid:\n" + "\n".join(told)


def all_lines(months: tuple[str, ...]) -> Plan:
    """Wants to see every order line instead of asking for sums."""
    yield call("list_tables")
    seen = Counter[tuple[str, str]]()
    for month in months:
        sql = LINES_OF_MONTH.format(month=month).strip()
        (lines,) = yield call("run_query", sql=sql)
        seen.update((row[0], row[3]) for row in rows_of(lines))
    twice = sum(count > 1 for count in seen.values())
    return f"I have read {seen.total()} lines; {twice} products were billed twice."


def refunds(months: tuple[str, ...]) -> Plan:
    """Sums by reason, then the cases of each third of every month."""
    yield call("list_tables")
    cents = cases = 0
    for month in months:
        (sums,) = yield call(
            "run_query", sql=REFUNDS_BY_REASON.format(month=month).strip()
        )
        cases += sum(int(row[1]) for row in rows_of(sums))
        cents += sum(int(row[2]) for row in rows_of(sums))
        thirds = [(1, 10), (11, 20), (21, 31)]
        yield calls(
            *(
                (
                    "run_query",
                    {
                        "sql": REFUNDS_OF_DAYS.format(
                            month=month, first=first, last=last
                        ).strip()
                    },
                )
                for first, last in thirds
            )
        )
    return f"We paid back {euros(cents)} in {cases} cases between {months[0]} and now."


def slow_sellers() -> Plan:
    """One query a product: many small steps instead of one GROUP BY."""
    yield call("list_tables")
    (table,) = yield call("run_query", sql=PRODUCTS)
    sold: dict[str, int] = {}
    for product, name, *_ in rows_of(table):
        sql = SALES_OF_PRODUCT.format(product=product).strip()
        (sales,) = yield call("run_query", sql=sql)
        sold[name] = sum(int(row[2]) for row in rows_of(sales))
    slowest = sorted(sold, key=lambda name: (sold[name], name))[:3]
    return "Slowest: " + ", ".join(f"{name} ({sold[name]} sold)" for name in slowest)


def scenarios() -> list[Scenario]:
    """Questions from a quick sum to a hand count of everything."""
    slowest = "Which three products sell worst?"
    return [
        AGENT.at(
            "best-month",
            "gpt-4o",
            None,
            Turn("Which month brought the most money?", revenue_by_month),
        ),
        AGENT.at(
            "wrong-table",
            "gpt-4.1-mini",
            16_000,
            Turn("How much did customers pay in all?", wrong_table_first),
            environment="staging",
        ),
        AGENT.at("best-8-of-32k", "gpt-5-mini", 32_000, _best(8)),
        AGENT.at("best-10-of-8k", "gpt-4.1-mini", 8_000, _best(10)),
        AGENT.at("best-14-of-6k", "gpt-4o-mini", 6_000, _best(14)),
        AGENT.at(
            "every-line-of-september",
            "gpt-4.1-mini",
            8_000,
            Turn(
                "Read all order lines of September: was anything billed twice?",
                lambda: all_lines(MONTHS[:1]),
            ),
        ),
        AGENT.at(
            "every-line",
            "gpt-4o",
            48_000,
            Turn(
                "Check every order line of the half-year for double billing.",
                lambda: all_lines(MONTHS),
            ),
        ),
        AGENT.at(
            "refunds-of-a-quarter",
            "gpt-5-mini",
            16_000,
            Turn(
                "What did refunds cost us since December, and why?",
                lambda: refunds(MONTHS[3:]),
            ),
        ),
        AGENT.at(
            "refunds-of-half-a-year",
            "llama-3.1-8b-instruct",
            None,
            Turn(
                "Go through all refunds since September and tell me what they cost.",
                lambda: refunds(MONTHS),
            ),
            provider="",
            environment="staging",
        ),
        AGENT.at("slow-sellers", "gpt-4o-mini", 8_000, Turn(slowest, slow_sellers)),
        AGENT.at(
            "slow-sellers-capped",
            "gpt-4.1-mini",
            12_000,
            Turn(
                f"{slowest} Take your time.",
                slow_sellers,
                "I ran out of calls after twelve of the twenty products, so I cannot "
                "name the slowest yet.",
            ),
            max_iterations=14,
        ),
    ]


def _best(count: int) -> Turn:
    return Turn(
        f"Who are our {count} best customers, and what do they order?",
        lambda: best_customers(count),
    )
