"""Personal facts about the user as English sentences say them, as patterns.

Each of :data:`STATEMENTS` is matched, ignoring case, at the beginning of a clause.
"""

from typing import Final


def any_of(*patterns: str) -> str:
    """A group that matches any of ``patterns``."""
    return f"(?:{'|'.join(patterns)})"


MAIL: Final = r"[\w.+-]+@[\w-]+\.[\w.-]+"
PHONE: Final = r"\+?\(?\d[\d ()/.-]{5,}\d"
NAME: Final = (
    r"(?!(?:admin|administrator|root|guest|system|postgres|nobody|build|deploy|owner|editor|viewer"
    r"|client|customer|operator|user|unique|unknown|null)\b)(?-i:[A-ZÀ-Þ][a-zà-ÿ]+)"
)
NAME_ENDS: Final = r"(?=$|[,.(]|(?-i: [A-Z])| and\b| but\b)"
_MONTH: Final = any_of(
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|märz|mai|okt|dez|janv|févr|avril)\w*",
    r"(?:juin|juil|août|enero|febrero|marzo|abril|mayo|junio|julio|agosto|octubre|diciembre)\w*",
)
DAY: Final = r"(?:on |am |le |el |in )?(?:the )?" + any_of(
    r"\d{1,4}[./-]",
    rf"\d{{1,2}}(?:st|nd|rd|th|er|\.)?(?: of| de)? {_MONTH}",
    rf"{_MONTH} \d",
    r"\d{1,2}月",
)
PLACE: Final = r"(?:the )?(?-i:[A-ZÀ-ÞŁŠŽ][\w’'-]*[a-zà-ÿ]|UK|US|USA|UAE|NYC|LA)(?![\w-])"

_KIN: Final = any_of(
    r"wife|husband|spouse|girlfriend|boyfriend|fianc[ée]e?|daughters?|sons?|mothers?|fathers?",
    r"mum|mom|dad|brothers?|sisters?|grand(?:mother|father|ma|pa|son|daughter)s?|aunt|uncle",
    r"niece|nephew|(?:mother|father|sister|brother)-in-law|kids?|toddler|twins",
    r"(?:dog|cat|puppy|kitten|parrot|hamster)s?",
)
_COUNT: Final = r"(?:an?|one|two|three|four|five|six|\d|no|several)"
_WHAT_KIN: Final = any_of(
    r"older|younger|little|small|teenage|grown|adult|young|elder|twin|newborn|pet|rescue|black",
    r"white|\d+[- ]year[- ]old",
)
_ILLNESS: Final = any_of(
    r"asthma|(?:type [12] )?diabetes|adhd|autism|depression|anxiety|(?:\w+ )?cancer|epilepsy",
    r"migraines?|(?:high|low) blood pressure|arthritis|dyslexia|insomnia|celiac disease",
    r"hypertension|(?:(?:a|an|severe) )?(?:\w+ )?(?:allergy|allergies)|covid(?:-19)?",
    r"an? (?:bad back|disability|heart condition|chronic \w+|fever)",
)
_CONDITION: Final = any_of(
    r"allergic to|(?:lactose|gluten)[ -]intolerant|diabetic|pregnant|(?:blind|deaf)(?! to\b)",
    r"colou?r-?blind|dyslexic|autistic|asthmatic|epileptic|(?:a )?(?:vegetarian|vegan)",
    r"left-handed|married|divorced|widowed",
    r"(?:a )?(?:jewish|muslim|christian|catholic|buddhist|hindu)",
    r"an atheist|gay|lesbian|bisexual|transgender|overweight|an only child",
    r"an? (?:single )?(?:mother|father|mum|mom|dad|widow|widower)(?= of|$)",
)
_LIKED: Final = r"(?:(?:green|black|herbal|iced|strong|sweet) )?" + any_of(
    r"tea|coffee|beer|wine|whisky|chocolate|sushi|pizza|pasta|seafood|spicy food|(?:\w+ )?cuisine",
    r"(?:italian|japanese|thai|indian|mexican|chinese|french) food|cilantro|coriander|olives",
    r"mushrooms|cheese|ice cream|jazz|(?:classical|rock|pop|country|folk|electronic) music|opera",
    r"hip-?hop|heavy metal|techno|hiking|cycling|swimming|gardening|knitting|fishing|skiing",
    r"surfing|yoga|football|soccer|basketball|baseball|tennis|golf|cricket|rugby|cats|dogs",
    r"(?:horror|romantic|action) (?:films|movies)|science fiction",
    r"(?:piano|guitar|violin|drums|chess)",
)
_LIKES: Final = any_of(
    r"likes?|loves?|prefers?|enjoys?|hates?|dislikes?|adores?|drinks?|eats?|plays?|is fond of",
    r"is a (?:big )?fan of|doesn['’]t like|does not like|can['’]t stand",
)
_DOING: Final = (
    r"(?:to (?:drink|eat|play) |drinking |eating |listening to |watching |playing (?:the )?)?"
)
_ENDS: Final = r"(?=\s*(?:$|[.,)]|(?:and|or|over|to|in the|with|without|very|a lot|more)\b))"
_KIN_ENDS: Final = (
    r"(?=$|[,.;()]| (?:and|or|but|who|whom|called|named|aged|at|in|with|from|of|to)\b)"
)

_TEAMS: Final = any_of(
    r"sales|marketing|finance|support|engineering|legal|accounting|research|operations|product",
    r"security|design|google|microsoft|apple|amazon|meta|openai|anthropic|nvidia",
)
_FACT: Final = r"(?:(?:currently|now|still|also|originally|actually|really|just) )*" + any_of(
    any_of(
        r"lives?|living|resides?|residing|lived|grew up|was born|is based|am based",
    )
    + rf" (?:(?:near|close to|outside|just outside) )?(?:(?:in|at) )?{PLACE}",
    rf"(?:comes?|is|am|hails) (?:originally )?from (?!{_TEAMS}\b){PLACE}",
    r"lives? (?:alone|with (?:his|her|their|my)\b)",
    r"lives? in an? (?:\w+ )?(?:house|flat|apartment|town|village|city|suburb|farm)\b",
    rf"was born (?:{DAY}|in (?:19|20)\d\d)",
    r"(?:is|am|turns|turned|is turning) (?:\d{1,3}(?:[- ]years?[- ]old(?! or\b| at least)"
    r"| next | this )|\d\d$)",
    r"(?:is|am) (?:an? \d{1,3}[- ]year[- ]old|aged \d)",
    rf"(?:has|have) (?:got )?{_COUNT} (?:{_WHAT_KIN} )*(?:{_KIN}|child|children){_KIN_ENDS}",
    rf"(?:has|have|suffers? from|lives with|struggles with) {_ILLNESS}{_ENDS}",
    rf"(?:was|is|has been|have been) diagnosed with {_ILLNESS}",
    rf"(?:is|am) (?:\w+ly )?{_CONDITION}(?![\w-])",
    rf"{_LIKES} {_DOING}{_LIKED}{_ENDS}",
    r"(?:can be reached|is reachable|can be contacted) (?:(?:at|by|on|via|under|phone|e-?mail) )+"
    rf"(?:{MAIL}|{PHONE})",
    rf"(?:is called|goes by(?: the name)?(?: of)?) {NAME}{NAME_ENDS}",
    r"celebrate[sd]? (?:his|her|their|my) (?:birthday|anniversary)",
    r"(?:weighs? \d+ ?(?:kg|kilos|lbs?|pounds)|is \d[\d.]* ?(?:cm|m|feet|ft) tall)",
)
_NO_RULE: Final = r"(?!\w+ed\b|(?:used|shown|kept|taken|read|sent|set|part|never|not|an?|the)\b)"
_OWNED: Final = any_of(
    r"(?:(?:full|first|last|real|legal|maiden|middle|given|family) )?(?:name|surname|nickname)"
    rf"(?: is|:) {NAME}(?:(?-i: [A-Z][\w'-]+))*{NAME_ENDS}",
    r"age(?: is|:) \d{1,3}(?![\d-])",
    rf"(?:birthday|birth ?date|date of birth|dob)(?: is|:| falls) {DAY}",
    r"(?:birthday|birth ?date) is (?:today|tomorrow|next|in|on)\b",
    rf"(?:home ?town|home city|home country|birthplace)(?: is|:) (?:in )?{PLACE}",
    r"(?:(?:home|private|postal|mailing|street) )?address(?: is|:) \d+ (?-i:[A-Z])",
    r"(?:(?:private|personal|work|home|business|primary|current) )?e-?mail(?: address)?"
    rf"(?: is|:) {MAIL}",
    r"(?:(?:private|personal|work|home|business|mobile|cell) )?(?:phone|telephone|mobile|cell)"
    rf"(?: ?phone)?(?: number)?(?: is|:) {PHONE}",
    rf"(?:(?:older|younger|late|twin|eldest) )?{_KIN}(?:['’]s \w+)? (?:is|are|was|lives?|works?|has"
    r"|have|likes?|loves?|died|turns)\b",
    r"(?:\w+ )?(?:allergy|allergies|medication|illness|blood type|blood pressure"
    r"|disability|religion|nationality|ethnicity|sexual orientation|pronouns|star sign|hobby"
    rf"|hobbies|salary|marital status)(?: is| are|:) {_NO_RULE}",
    r"favou?rite (?:food|dish|drink|colou?r|music|band|song|singer|film|movie|book|author|sport"
    rf"|(?:football )?team|season|animal|holiday|restaurant|cuisine)s?(?: is| are|:) {_NO_RULE}",
)
_SAID: Final = (
    r"(?:(?: (?:once|recently|also))? (?:said|says|told me|mentioned|mentions|noted|shared|stated"
    r"|states|confirmed|explained)(?: that)?,?"
)

STATEMENTS: Final = (
    rf"(?:the |our )?user{_SAID} (?:he|she|they)(?:['’](?:s|re|ve))?)?,? {_FACT}",
    rf"i {_FACT}",
    rf"(?:(?:the |our )?user['’]s|my) {_OWNED}",
    rf"(?:the |our )?user{_SAID} (?:his|her|their|my)) {_OWNED}",
    (
        r"(?:the )?(?:name|age|birthday|home address|phone number|e-?mail(?: address)?) of the user"
        rf"(?: is|:) (?:{MAIL}|{PHONE}|{DAY}|\d{{1,3}}$|{NAME}{NAME_ENDS})"
    ),
    rf"user (?:name|age|birthday|email|phone): (?:{MAIL}|{PHONE}|{DAY}|\d{{1,3}}$|{NAME}$)",
)
"""What is refused."""
