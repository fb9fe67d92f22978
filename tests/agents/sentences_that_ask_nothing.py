"""Generate sentences that name what an agent can do, and ask for nothing of it.

They tell of others' deeds, of the past, of suppositions, forbid, quote, or ask for the same of another thing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

OTHERS = (
    "My neighbour {past} yesterday.",
    "I saw a man who {past}.",
    "The lady at the desk {past} this morning.",
    "My brother {past} and was sorry about it.",
    "Somebody I know {past} once.",
    "My colleague keeps {doing}.",
    "They {past}, can you believe it.",
    "He {past} without asking me.",
)
PAST = (
    "I {past} last week.",
    "Two years ago we {past}.",
    "I once {past} by mistake.",
    "We {past} back then, those were the days.",
    "I remember when I {past}.",
)
SUPPOSITIONS = (
    "Suppose I {do}.",
    "What would happen if I {past}?",
    "I might {do} one day.",
    "I was thinking about {doing}, but I haven't decided.",
    "Imagine I {past} right now.",
    "If it rains I'll {do}.",
    "I wonder whether people regret {doing}.",
    "Some day I will {do}, not today.",
)
NEGATIONS = (
    "Don't {do}.",
    "Whatever happens, never {do}.",
    "I don't want to {do}.",
    "I'd rather not {do}.",
    "There is no need to {do}.",
    "I'm certainly not going to {do}.",
    "Nobody told you to {do}.",
    "Please stop {doing}.",
)
QUOTATIONS = (
    'The sign says "{do}".',
    "How do you say '{do}' in French?",
    "My favourite song is called {do}.",
    "In the film she shouts: {do}!",
    "The letter read: {do}.",
)
TEMPLATES = (*OTHERS, *PAST, *SUPPOSITIONS, *NEGATIONS, *QUOTATIONS)


@dataclass(frozen=True, slots=True)
class Situation:
    """Earlier turns, deeds in three forms (do, past, doing), and sentences elsewhere."""

    agent: str
    before: tuple[str, ...]
    deeds: tuple[tuple[str, str, str], ...]
    elsewhere: tuple[str, ...]


ANNA = "My name is Anna and I was born in 1982."
UNDERSTOOD, MARIA = "Yes I understand.", "My name is Maria Lopez. The digits are forty two."

SITUATIONS = (
    Situation(
        "concierge",
        (),
        (
            ("order a taxi", "ordered a taxi", "ordering a taxi"),
            ("book a table for two at eight", "booked a table for two at eight", "booking a table for two at eight"),
            ("set a timer for ten minutes", "set a timer for ten minutes", "setting a timer for ten minutes"),
        ),
        (
            "Book a flight for two at eight.",
            "Order a taxi driver's licence for my uncle.",
            "Set the table for two people.",
            "Get my suitcase upstairs.",
            "Call my wife.",
            "Book the tennis court for four at six.",
            "I need a lift for my spirits.",
            "The restaurant was lovely, two of us ate there at eight.",
            "Ten minutes is a long time to wait.",
            "Reserve me a hire car for seven days.",
            "Wake up, it's seven.",
            "The taxi smelled of smoke.",
            "Our table wobbles.",
            "There were four of us at the table when the lights went out.",
            "My taxi is late.",
            "Put a table in my room.",
        ),
    ),
    Situation(
        "concierge",
        ("Book a table for four at seven.", "Take a note buy milk."),
        (
            ("cancel my booking", "cancelled my booking", "cancelling my booking"),
            ("delete the last note", "deleted the last note", "deleting the last note"),
        ),
        (
            "Cancel my newspaper.",
            "Cancel the wake up call.",
            "Delete my account.",
            "Delete the photo I sent you.",
            "Forget the neighbours.",
            "Cancel my flight to Rome.",
            "Drop the parcel at the desk.",
            "My booking for the theatre was cancelled.",
            "Cancel the newspaper on my table.",
            "Lose the reservation about my character.",
            "Remove the flowers from the table.",
            "Scrap the song at the end of dinner.",
            "Leave the table where it is.",
        ),
    ),
    Situation(
        "clinic",
        (ANNA, "I have a fever.", "The pain is a four."),
        (("come in the morning", "came in the morning", "coming in the morning"),),
        (
            "Good morning to you too.",
            "The afternoon news was terrible.",
            "I feel worst in the morning.",
            "My cat sleeps in the afternoon.",
            "Morning sickness is no fun.",
            "I work every afternoon.",
            "Is it busy in the morning?",
            "My dentist saw me in the morning.",
            "This morning the postman came.",
        ),
    ),
    Situation(
        "clinic",
        (ANNA, "I have a fever.", "The pain is a four.", "In the morning."),
        (("book it", "booked it", "booking it"), ("take the appointment", "took it", "taking the appointment")),
        (
            "Book my neighbour in.",
            "Yes, my mother said that too.",
            "Fine weather today.",
            "That's good news about the baby.",
            "Perfect timing, the bus is here.",
            "Okay Google, play some music.",
            "Sure, if my boss lets me.",
            "Yes, I know where the clinic is.",
            "I'd take it if it were later.",
            "Right, who else is waiting?",
            "Great, now my phone is dying.",
            "Good thing I brought a coat.",
        ),
    ),
    Situation(
        "restaurant",
        ("A pasta please.",),
        (
            ("cancel the order", "cancelled the order", "cancelling the order"),
            ("order two soups", "ordered two soups", "ordering two soups"),
            ("take the pasta off", "took the pasta off", "taking the pasta off"),
        ),
        (
            "Cancel my newspaper.",
            "Cancel my gym membership.",
            "Scrap metal is worth a fortune.",
            "Forget about the weather.",
            "The soup at my mother's is better.",
            "My sister is allergic to fish.",
            "The fish in that tank are beautiful.",
            "Is the salad bowl yours?",
            "Water the plants, please.",
            "There is a fly in the soup of that man.",
            "Coffee keeps me awake.",
            "I dropped the salad on the floor.",
            "Bring my coat.",
            "Give the waiter my compliments.",
            "My husband will pay for the taxi.",
            "Add my name to the guest book.",
            "I used to work in a pasta factory.",
            "We changed our minds about the wedding.",
            "The water is leaking in the toilet.",
            "Three fish swim past.",
            "Cancel culture is tiring.",
        ),
    ),
    Situation(
        "restaurant",
        ("A pasta please.", "That is all.", "Yes, that is right."),
        (("pay by card", "paid by card", "paying by card"), ("pay in cash", "paid in cash", "paying in cash")),
        (
            "I got a birthday card.",
            "My card is in the car.",
            "The cash machine is broken.",
            "A postcard would be nice.",
            "Send a card to my mother.",
            "He is short of cash.",
            "Cash is king, they say.",
            "I lost my library card.",
            "Do you play cards?",
            "My neighbour wants to pay for his own coffee by card.",
        ),
    ),
    Situation(
        "restaurant",
        ("A pasta please.", "That is all.", "Yes, that is right.", "In cash."),
        (("send it to the kitchen", "sent it to the kitchen", "sending it to the kitchen"),),
        (
            "Send my love to the kitchen.",
            "Our kitchen at home is blue.",
            "Yes, it is raining.",
            "Send a postcard.",
            "The kitchen looks clean.",
            "Sure, everybody says so.",
            "My uncle is cooking for sixty people.",
            "Fire away with your questions.",
        ),
    ),
    Situation(
        "debt_collection",
        (UNDERSTOOD, MARIA),
        (
            ("pay fifty dollars now", "paid fifty dollars", "paying fifty dollars"),
            ("pay thirty dollars a month", "paid thirty dollars a month", "paying thirty dollars a month"),
        ),
        (
            "Pay my electricity bill.",
            "I pay three hundred dollars in rent.",
            "My phone costs fifty dollars a month.",
            "I get a hundred dollars from my aunt.",
            "They charge ten dollars for parking.",
            "Charge my phone.",
            "I have a hundred dollars in my wallet.",
            "Twenty people were at the party.",
            "My gym takes forty dollars each month.",
            "Take my dog for a walk.",
            "Pay attention to me for a minute.",
            "Give me fifty dollars.",
            "It took me twenty days to pay the plumber.",
            "Call my lawyer on Monday.",
            "My birthday is on Friday.",
            "Ring the doorbell on Sunday.",
            "The neighbour has to pay two hundred dollars.",
            "Everything costs three hundred dollars these days.",
        ),
    ),
    Situation(
        "debt_collection",
        (UNDERSTOOD, MARIA, "I can pay fifty dollars a month."),
        (("agree to the plan", "agreed to the plan", "agreeing to the plan"),),
        (
            "I agree that the weather is bad.",
            "My wife would agree.",
            "Good lord, is it Monday already.",
            "Sure, blame the bank.",
            "Fine weather for ducks.",
            "Yes, I hear the doorbell.",
            "We agreed to disagree at home.",
            "Okay, who told you my number?",
            "Deal with your own problems.",
            "It's a great day for a picnic.",
        ),
    ),
    Situation(
        "debt_collection",
        (),
        (),
        (
            "I understand nothing about football.",
            "Do you understand French?",
            "My son does not understand maths.",
            "Yes, the dog is barking.",
            "Clear the road, please.",
            "If I understood you I'd say so.",
            "My neighbour understood you, I didn't.",
        ),
    ),
    Situation(
        "call_screening",
        ("This is Anna Miller. It is about the house.",),
        (),
        (
            "It was urgent last week.",
            "My neighbour says everything is urgent.",
            "Is everything urgent in your world?",
            "If it were urgent I would say so.",
            "Urgent care is around the corner.",
            "An accident happened on the motorway last year.",
            "The hospital canteen is good.",
            "Connect the cable to the television.",
            "I never said it was urgent.",
            "My sister always thinks that things are urgent.",
            "Important people live here.",
            "Nothing can wait in my job, they say.",
            "Serious films bore me.",
        ),
    ),
    Situation(
        "call_screening",
        (),
        (),
        (
            "My sister bought solar panels.",
            "I sell nothing, don't worry.",
            "Your insurance card fell out of the car.",
            "I won the chess match.",
            "I didn't win a prize.",
        ),
    ),
    Situation(
        "tech_support",
        ("My internet is slow.",),
        (
            ("restart the router", "restarted the router", "restarting the router"),
            ("test the line", "tested the line", "testing the line"),
            ("talk to a person", "talked to a person", "talking to a person"),
            ("put me through to the specialist", "talked to the specialist", "talking to the specialist"),
        ),
        (
            "Restart my car.",
            "Test my eyes.",
            "Reset my password.",
            "Restart the film from the beginning.",
            "The washing line is broken.",
            "Test the water in the pool.",
            "The finish line is near.",
            "Turn the lights off and on.",
            "My router is black.",
            "The heart specialist said I'm fine.",
            "A nice person gave me the router.",
            "Check my bank account.",
            "Try the soup.",
            "Reboot the economy.",
            "I'm a very patient person.",
            "My kid wants to be a technician.",
            "The kettle works again.",
            "My leg works again.",
            "Everything works better with coffee.",
            "It works for my neighbour.",
            "Call the police.",
        ),
    ),
    Situation(
        "tech_support",
        ("My internet is slow.", "Restart the router."),
        (),
        (
            "The toaster works now.",
            "It worked yesterday.",
            "If it works I'll be happy.",
            "My brother says it works.",
            "It never works when I need it.",
            "Yes, the cat sits on it.",
            "Nothing works better than tea.",
            "My daughter works again, in a bank.",
            "Does it work on Sundays?",
        ),
    ),
)


def sentences() -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield agent, earlier turns and sentence."""
    for one in SITUATIONS:
        for do, past, doing in one.deeds:
            for template in TEMPLATES:
                yield one.agent, one.before, template.format(do=do, past=past, doing=doing)
        for sentence in one.elsewhere:
            yield one.agent, one.before, sentence
