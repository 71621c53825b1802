"""The tea shop's help pages, as its support desk searches them."""

PAGES = {
    "returns": """
Returns. You may send back anything within thirty days, opened or not, as long as at
least half of the tea is still in the bag. Print the label that came with your
order, put it on the box, and drop it at any counter of the carrier. We pay the way
back when something arrived broken or was not what you ordered; otherwise four euros
are taken off the refund. Refunds go to the card that paid, within five working days
after the box reached us. Ware that has been used cannot come back, unless it leaks,
cracks in its first year, or loses its glaze. Gift cards and samples stay with you.
""".strip(),
    "shipping": """
Shipping. Orders placed before two in the afternoon leave the same day. Inside the
country a box takes one or two days, to neighbours three to five, and overseas up to
three weeks. Above sixty euros shipping is free; below it costs four ninety. Kettles
travel in a box of their own and may come a day later. You get a number to follow
the box as soon as the carrier has it. If nothing moves for five days, write to us:
we then ask the carrier, and after ten days we send the order again or pay it back,
whichever you like better.
""".strip(),
    "storage": """
Keeping tea. Tea takes up every smell around it, so keep it closed, dark and dry,
away from spices and coffee. Green tea is best within half a year and may lie in the
fridge if the bag is tight; let it get warm before you open it, or water will settle
on the leaves. Black tea keeps for two years. Oolong that was roasted gets rounder
with time. Herbal blends lose their oil first and should not stand in the sun. A tin
is better than glass, and a full tin is better than a half-empty one.
""".strip(),
    "brewing": """
Brewing. For green tea use water of seventy to eighty degrees and one or two
minutes; for oolong ninety degrees and several short rounds; for black tea boiling
water and three minutes; herbs may stand for eight. Two grams for a cup are a good
start. If a tea turns bitter, take cooler water before you take less leaf. If it
tastes of nothing, the water is too soft or the leaf too old. Rinse a clay pot with
hot water only: soap stays in the clay and comes back in every cup.
""".strip(),
    "payment": """
Paying. We take cards, bank transfer and gift cards. The card is charged when the
box leaves, not when you order. A transfer has to reach us within seven days or the
order is dropped. An invoice with tax number can be had at any time from your
account or from this desk. If a charge shows up twice, one of them is a hold of your
bank and goes away within three days; if it does not, tell us the day and the last
four digits. We never ask for the whole number of a card.
""".strip(),
    "subscriptions": """
Subscriptions. A box each month, two or three teas, chosen by you or by us. You can
skip a month until the fifth, change the address until the box is packed, and stop
at any time; what is paid for is still sent. A subscription that was paused for
three months ends by itself. Members get tenth boxes at half price and may ask for
samples of anything. Teas of a subscription can be returned like any other, but the
box that follows is not changed by that.
""".strip(),
}
