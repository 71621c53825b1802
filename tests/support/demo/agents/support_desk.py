"""A support desk: talks of several turns, each of which carries all that was said."""

import re

from tests.support.demo.material.help import PAGES
from tests.support.demo.material.shop import shop
from tests.support.demo.scenario import NUMBER, TEXT, Agent, Plan, Scenario, Turn, tool
from tests.support.standin import Reply, call, calls
from ullage import Tool

SYSTEM = (
    "You are the support desk of a tea shop. Look things up before you answer, quote "
    "order numbers and dates, be short and kind, and never promise what a page of the "
    "help does not say."
)
MANUAL = (
    SYSTEM
    + "\n\nThe whole house manual follows; act by it.\n\n"
    + "\n\n".join(f"## {name}\n{text}" for name, text in PAGES.items())
    + "\n\n"
    + "\n\n".join(f"## {name}, for staff\n{text}" for name, text in PAGES.items())
)
ORDERS = """
SELECT o.id, o.day, o.state, p.name, l.quantity, l.paid_cents FROM orders o
JOIN order_lines l ON l.order_id = o.id JOIN products p ON p.id = l.product_id
WHERE {where} ORDER BY o.id, p.id
"""
LINE = re.compile(r"^(\d+)\t(\S+)\t(\w+)\t(.+?)\t", re.MULTILINE)


def look_up_order(order_id: int) -> str:
    return _orders("o.id = ?", order_id)


def orders_of_customer(customer_id: int) -> str:
    return _orders("o.customer_id = ?", customer_id)


def find_customer(name: str) -> str:
    rows = shop().execute(
        "SELECT id, name, city, since FROM customers WHERE name = ? ORDER BY id",
        (name,),
    )
    return _table("id\tname\tcity\tsince", rows.fetchall())


def read_help(page: str) -> str:
    return PAGES[page]


def search_help(word: str) -> str:
    """Pages that hold the word, with the line it stands in."""
    hits = [
        f"{name}: {line}"
        for name, text in PAGES.items()
        for line in text.splitlines()
        if word.lower() in line.lower()
    ]
    return "\n".join(hits) or "no page"


def _orders(where: str, value: int) -> str:
    rows = shop().execute(ORDERS.format(where=where), (value,)).fetchall()
    if not rows:
        raise LookupError(f"no order for {value}")
    return _table("order\tday\tstate\tproduct\tquantity\tpaid_cents", rows)


def _table(header: str, rows: list[tuple[object, ...]]) -> str:
    return "\n".join([header, *("\t".join(map(str, row)) for row in rows)])


AGENT = Agent(
    "support-desk",
    SYSTEM,
    (
        tool(look_up_order, "Show one order.", order_id=NUMBER),
        tool(orders_of_customer, "Show all orders of a customer.", customer_id=NUMBER),
        tool(find_customer, "Find customers by full name.", name=TEXT),
        tool(search_help, "Find a word in the help pages.", word=TEXT),
        tool(read_help, "Read one help page.", page=TEXT),
    ),
)


def crowded_tools() -> tuple[Tool, ...]:
    """What happens when every team adds its tools to one desk."""
    deeds = ("change", "cancel", "confirm", "archive")
    nouns = ("address", "invoice", "subscription", "delivery", "voucher", "account")
    added = (
        Tool(
            f"{deed}_{noun}",
            f"{deed.title()} the {noun} of a customer. Use it only once the customer "
            f"has confirmed it in writing, never for an order that has left the house, "
            f"and note the reason: the {noun} team reads it every evening.",
            {
                "type": "object",
                "properties": {
                    "customer_id": {
                        "type": "integer",
                        "description": f"Whose {noun} it is; find the customer first.",
                    },
                    "reason": {
                        "type": "string",
                        "enum": ["customer asked", "carrier asked", "our mistake"],
                        "description": "Why; shown to the customer word for word.",
                    },
                },
            },
            read_help,
        )
        for deed in deeds
        for noun in nouns
    )
    return (*AGENT.tools, *added)


def answers(text: str) -> Plan:
    """Says something without a look at anything."""
    return text
    yield Reply()  # makes it a generator


def where_is_it(order_id: int) -> Plan:
    (order,) = yield call("look_up_order", order_id=order_id)
    if order.startswith("error"):
        return f"I cannot find an order {order_id}. Could you check the number?"
    yield call("read_help", page="shipping")
    found = LINE.search(order)
    day, state = (found[2], found[3]) if found else ("an unknown day", "unknown")
    return (
        f"Order {order_id} was placed on {day} and is marked as {state}. If nothing "
        "has moved for five days I ask the carrier; after ten days we send it again."
    )


def whole_history(name: str) -> Plan:
    (people,) = yield call("find_customer", name=name)
    told = []
    for row in people.splitlines()[1:]:
        customer = int(row.split("\t")[0])
        (orders,) = yield call("orders_of_customer", customer_id=customer)
        found = LINE.findall(orders)
        told.append(f"customer {customer}: {len({line[0] for line in found})} orders")
    return f"{name} stands here as " + ", and as ".join(told) + "."


def from_the_help(*pages: str, answer: str) -> Plan:
    yield call("search_help", word=pages[0][:5])
    yield calls(*(("read_help", {"page": page}) for page in pages))
    return answer


def compare_orders(first: int, count: int) -> Plan:
    """Looks at orders in a row, one at a time."""
    states: dict[str, int] = {}
    for order_id in range(first, first + count):
        (order,) = yield call("look_up_order", order_id=order_id)
        found = LINE.search(order)
        if found:
            states[found[3]] = states.get(found[3], 0) + 1
    told = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    return f"Of these {count} orders: {told}."


def breaks_down() -> Plan:
    """The model's server fails in the middle of the run."""
    yield call("find_customer", name="Ada Brandt")
    raise ConnectionError("the model is overloaded")


BRUNO = (
    Turn("Hello, where is my order 10212?", lambda: where_is_it(10212)),
    Turn(
        "And 10350? It was meant as a present.",
        lambda: where_is_it(10350),
    ),
    Turn(
        "Please list all I ever ordered, I am Bruno Ito.",
        lambda: whole_history("Bruno Ito"),
    ),
    Turn(
        "May I send the kettle back, and who pays?",
        lambda: from_the_help(
            "returns",
            "shipping",
            answer="Within thirty days, yes. If it leaks or arrived broken we pay; "
            "else four euros are taken off.",
        ),
    ),
    Turn(
        "Is order 10877 part of the same box?",
        lambda: where_is_it(10877),
    ),
    Turn(
        "Thank you, that is all.",
        lambda: answers("You are welcome. Enjoy your tea!"),
    ),
)
GRETA = (
    Turn(
        "My green tea tastes bitter. What am I doing wrong?",
        lambda: from_the_help(
            "brewing",
            "storage",
            answer="Try cooler water first, seventy to eighty degrees, for one minute.",
        ),
    ),
    Turn(
        "It was order 19999, by the way.",
        lambda: where_is_it(19999),
    ),
    Turn(
        "Sorry: 10499. Is that a green tea at all?",
        lambda: where_is_it(10499),
    ),
    Turn(
        "Can I get it each month, and how would I pay?",
        lambda: from_the_help(
            "subscriptions",
            "payment",
            "shipping",
            answer="Yes: two or three teas a month; the card is charged when the box "
            "leaves, and you may skip a month until the fifth.",
        ),
    ),
    Turn(
        "Please check that all orders around mine went out, 10490 to 10505.",
        lambda: compare_orders(10490, 16),
    ),
)
AUDIT = Turn(
    "Did the orders 10600 to 10629 all arrive?", lambda: compare_orders(10600, 30)
)


def scenarios() -> list[Scenario]:
    """Talks, and desks that were set up badly."""
    hello = Turn("Where is my order 10212?", lambda: where_is_it(10212))
    return [
        AGENT.at("bruno", "gpt-4.1-mini", 6_000, *BRUNO),
        AGENT.at("greta", "gpt-4o-mini", 3_000, *GRETA),
        AGENT.at("audit", "gpt-5-mini", 3_000, AUDIT),
        AGENT.at("manual-in-the-prompt", "gpt-4o-mini", 2_400, hello, system=MANUAL),
        AGENT.at(
            "too-many-tools",
            "gpt-4.1-mini",
            6_000,
            hello,
            tools=crowded_tools(),
            environment="staging",
        ),
        AGENT.at(
            "too-long-an-answer",
            "llama-3.1-8b-instruct",
            2_600,
            Turn(
                "Read me all help pages.", lambda: from_the_help(*PAGES, answer="Done.")
            ),
            max_output_tokens=4_000,
            provider="",
            environment="staging",
        ),
        AGENT.at(
            "model-overloaded",
            "gpt-4o",
            None,
            Turn("Where is Ada Brandt's box?", breaks_down),
        ),
        AGENT.at(
            "model-overloaded-again",
            "gpt-4o",
            None,
            Turn("Ada Brandt again: any news?", breaks_down),
        ),
    ]
