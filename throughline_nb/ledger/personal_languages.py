"""Personal facts about the user in German, French, Spanish and Japanese, as patterns.

Each of :data:`STATEMENTS` is matched, ignoring case, at the beginning of a clause.
"""

from typing import Final

from throughline_nb.ledger.personal_english import (
    DAY,
    MAIL,
    NAME,
    NAME_ENDS,
    PHONE,
    PLACE,
    any_of,
)

_KIN_DE: Final = any_of(
    r"Frau|Ehefrau|Mann|Ehemann|Tochter|Töchter|Sohn|Söhne|Kind|Kinder|Mutter|Vater|Bruder",
    r"Schwestern?|Brüder|Geschwister|Hunde?|Katzen?|Enkel",
)
_FACT_DE: Final = any_of(
    r"(?:wohn|leb)(?:t|e) (?:(?:derzeit|zurzeit|seit \d+ Jahren) )?(?:in|bei|auf) (?:der |den )?"
    rf"{PLACE}",
    rf"(?:komm|stamm)(?:t|e) aus (?:der |dem )?{PLACE}",
    rf"heiß(?:t|e) {NAME}{NAME_ENDS}",
    r"(?:ist|bin|wird|werde) \d{1,3}(?: Jahre alt|\.?$)",
    rf"(?:hat|habe) (?:ein|eine|einen|zwei|drei|vier|\d) (?:\w+ )?{_KIN_DE}(?![\w-])",
    r"(?:ist|bin) (?:allergisch|verheiratet|geschieden|verwitwet|schwanger|Diabetiker"
    r"|(?:Vegetarier|Veganer)(?:in)?|vegetarisch|vegan)\b",
    r"(?:hat|habe) (?:Asthma|Diabetes|Krebs|Migräne|Depressionen|ADHS|Bluthochdruck)\b",
    r"(?:trinkt|trinke|isst|esse|mag|liebt|liebe|hört|höre) (?:gern |gerne |am liebsten |lieber )?"
    r"(?:Tee|Kaffee|Bier|Wein|Schokolade|Jazz|Pizza|Hunde|Katzen)\b",
    r"(?:wurde|bin|ist) (?:am|in|im) .{1,40} geboren",
)
_FACT_FR: Final = any_of(
    rf"(?:habite|vit|vis|réside) (?:actuellement )?(?:à|en|au|aux|près de) {PLACE}",
    rf"[sm]['’]appelle {NAME}{NAME_ENDS}",
    r"(?:a|ai) \d{1,3} ans(?=$|[.,;]| et\b)",
    r"(?:a|ai) (?:une?|deux|trois|quatre|\d) (?:\w+ )?(?:filles?|fils|enfants?|femme|mari|frères?"
    r"|sœurs?|chiens?|chats?)\b",
    r"(?:est|suis) (?:allergique|mariée?|divorcée?|veuf|veuve|enceinte|diabétique|végétarien(?:ne)?"
    r"|végane?|née?)\b",
    r"(?:a|ai) (?:de l['’]asthme|du diabète|un cancer|des migraines)\b",
    r"(?:aime|adore|préfère|déteste) (?:le|la|les) (?:thé|café|vin|bière|chocolat|jazz|chats"
    r"|chiens)\b",
)
_FACT_ES: Final = any_of(
    rf"(?:vive|vivo|reside|resido) (?:actualmente )?en {PLACE}",
    rf"(?:se llama|me llamo) {NAME}{NAME_ENDS}",
    r"(?:tiene|tengo) \d{1,3} años(?=$|[.,;]| y\b)",
    r"(?:tiene|tengo) (?:una?|dos|tres|cuatro|\d) (?:\w+ )?(?:hij[oa]s?|herman[oa]s?|esposa"
    r"|perros?|gatos?)\b",
    r"(?:es|soy) (?:alérgic|diabétic|vegetarian|vegan)[oa]\b",
    r"(?:está|estoy) (?:casad[oa]|divorciad[oa]|embarazada)\b",
    r"(?:tiene|tengo) (?:asma|diabetes|cáncer|migrañas?)\b",
    r"(?:nació|nací) (?:el|en) ",
    r"(?:prefiere|prefiero|le gustan?|le encantan?|me gustan?) (?:el|la|los) (?:té|café|vino"
    r"|cerveza|chocolate|jazz|gatos|perros)\b",
)
_USER_FR: Final = r"l['’]utilisat(?:eur|rice)"
_OF_USER_ES: Final = r"(?:del usuario|de la usuaria)"
_USER_JA: Final = r"(?:この)?ユーザー?(?:さん|様)?"
_I_JA: Final = r"(?:私|僕|わたし)"
_WHOSE_JA: Final = rf"(?:{_USER_JA}|{_I_JA})の"
_SOME_JA: Final = r"[^、。]{0,12}"

STATEMENTS: Final = (
    rf"(?:(?:der|die|unser|unsere) )?(?:nutzer|benutzer|anwender|user)(?:in)? {_FACT_DE}",
    rf"ich {_FACT_DE}",
    (
        rf"meine? (?:Geburtstag ist|Name ist {NAME}{NAME_ENDS}|E-?Mail(?:-Adresse)? (?:ist|lautet)"
        rf" {MAIL}|Telefonnummer (?:ist|lautet) {PHONE}|Adresse ist|Lieblings\w+ ist"
        rf"|{_KIN_DE} (?:ist|heißt|hat|wohnt|arbeitet))"
    ),
    (
        r"(?:der|die) (?:Geburtstag|E-?Mail(?:-Adresse)?|Telefonnummer|Frau|Tochter|Mann|Sohn|Name)"
        rf" (?:des|der) (?:Nutzers|Benutzers|Anwenders|Nutzerin|Benutzerin) (?:ist|lautet|heißt)"
        rf" (?:{DAY}|{MAIL}|{PHONE}|{NAME}{NAME_ENDS})"
    ),
    rf"{_USER_FR} {_FACT_FR}",
    rf"(?:je |j['’]){_FACT_FR}",
    (
        r"(?:mon anniversaire (?:est|tombe)|(?:ma femme|mon mari|ma fille|mon fils) (?:est|a|habite"
        r"|s['’]appelle|travaille))\b"
    ),
    rf"(?:l['’]anniversaire|la femme|le mari|la fille|le fils) de {_USER_FR} (?:est|a|tombe)\b",
    rf"(?:l['’](?:adresse )?e-?mail de {_USER_FR}|mon (?:adresse )?e-?mail) est {MAIL}",
    rf"(?:el |la |al |a la )?usuari[oa] {_FACT_ES}",
    rf"(?:yo )?(?=vivo|me llamo|tengo|soy|estoy|nací|me gusta|prefiero){_FACT_ES}",
    (
        r"mi (?:cumpleaños (?:es|cae)|(?:esposa|esposo|hija|hijo|madre|padre) (?:es|se llama|vive"
        r"|tiene|trabaja))\b"
    ),
    rf"(?:el cumpleaños|la esposa|el esposo|la hija|el hijo) {_OF_USER_ES} (?:es|cae|vive|tiene)\b",
    rf"(?:el correo(?: electrónico)? {_OF_USER_ES}|mi correo(?: electrónico)?) es {MAIL}",
    (
        rf"(?:{_USER_JA}|{_I_JA})(?:は|が){_SOME_JA}"
        r"(?:に住んで|在住|に暮らし|出身(?:です|だ|$)|生まれ(?:です|だ|た|$)|\d[歳才](?:です|だ|で|$))"
    ),
    (
        rf"(?:{_USER_JA}|{_I_JA})に?は{_SOME_JA}(?:娘|息子|子ども|子供|妻|夫|犬|猫|兄|姉|弟|妹)が"
        r"(?:\d|[一二三四])?人?(?:いる|います)"
    ),
    (
        rf"(?:{_USER_JA}|{_I_JA})(?:は|が){_SOME_JA}"
        r"(?:アレルギーが?(?:ある|あり|です|だ|を持)|喘息|糖尿病|妊娠|ベジタリアン|結婚して|既婚|独身"
        r"|(?:お茶|紅茶|コーヒー|ビール|ジャズ|猫|犬)が(?:好き|嫌い))"
    ),
    (
        rf"{_WHOSE_JA}(?:誕生日|生年月日|妻|夫|娘|息子|母|父|趣味|血液型|出身地|持病"
        r"|好きな(?:食べ物|飲み物|音楽|色))(?:は|が)"
    ),
    rf"{_WHOSE_JA}年齢は\d+歳?(?:です|だ|$)",
    rf"{_WHOSE_JA}(?:名前|氏名)は[^、。\sA-Za-z]{{1,12}}(?:です|だ$|という)",
    (
        rf"{_WHOSE_JA}(?:メール(?:アドレス)?|電話番号|住所|連絡先)は"
        rf"(?:{MAIL}|\+?\d|[^、。]{{1,8}}[都道府県市区町村])"
    ),
)
"""What is refused."""
