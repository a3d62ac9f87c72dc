"""What kind of answer a question asks for, by cue words in many languages."""

from __future__ import annotations

import re
from enum import StrEnum


class Want(StrEnum):
    """Kinds of answers."""

    HOW = "how"
    WHEN = "when"
    AMOUNT = "amount"
    WHERE = "where"
    DEFINITION = "definition"
    REASON = "reason"
    WHO = "who"
    YES_NO = "yes_no"
    LISTING = "listing"


_QUESTION: dict[Want, re.Pattern[str]] = {
    Want.AMOUNT: re.compile(
        r"\bhow (?:many|much|long|old|far|big|large|often|high|fast|tall|deep)\b"
        r"|\bwhat (?:number|percent(?:age)?|amount|size|port|version|is the (?:default"
        r"|max\w*|min\w*|limit))\b"
        r"|\bwie ?(?:viele?|lange|hoch|groß|oft)\b|\bcuánt[oa]s?\b|\bcombien\b"
        r"|\bquant[oiea]s?\b"
        r"|\bскільки\b|\bсколько\b|πόσ(?:ο|α|οι|ες|ους|η)\b|\bkaç\b|\bne kadar\b|\bcât(?:e|ă"
        r"|i|ți|ţi)?\b"
        r"|bao nhiêu|कितन[ीेा]|كم\b|กี่|เท่าไ[หร]|多少|几[个年次人]|幾"
        r"|いくつ|何[人個年回台本枚]|どのくらい|몇|얼마",
    ),
    Want.WHEN: re.compile(
        r"\bwhen\b|\b(?:what|which|in what|in which) (?:year|date|month|day|century"
        r"|decade)\b|\bwann\b|\bcuándo\b"
        r"|\bquando\b|\bquand\b|\bкогда\b|\bколи\b|\bв каком году\b|πότε\b|ποια χρονιά"
        r"|\bne zaman\b|\bhangi yıl|\bcând\b"
        r"|\ben qué año\b|\bwelchem jahr\b|khi nào|năm nào|bao giờ|\bकब\b|किस वर्ष|متى"
        r"|في أي عام|เมื่อไ[หร]|ปีใด|ปีไหน"
        r"|什么时候|何时|哪[一]?年|何年|いつ|언제|몇 년",
    ),
    Want.HOW: re.compile(
        r"\bhow (?:do|does|can|could|to|should|would|might|is|are|was|were|did)\b|^how\b"
        r"|\bsteps? (?:to|for)\b"
        r"|\bway to\b|\bwie (?:kann|mache|man|ich|wird|werden|soll|geht|richte)\b|^wie\b"
        r"|\bcómo\b|\bcomment\b|\bcomo\b"
        r"|\bcome (?:si|posso|faccio)\b|\bкак\b|\bяк\b|πώς\b|πως\b|\bnasıl\b|\bcum\b"
        r"|như thế nào|làm sao|làm thế nào"
        r"|\bकैसे\b|كيف|อย่างไร|ยังไง|如何|怎[么样]|どうやって|どのように|どうすれば|방법|어떻게",
    ),
    Want.WHERE: re.compile(
        r"\bwhere\b|\b(?:which|what) (?:file|folder|directory|path|place|city|country"
        r"|location)\b|\bwo\b|\bwohin\b"
        r"|\bdónde\b|\boù\b|\bdove\b|\bonde\b|\bгде\b|\bкуда\b|\bде\b|πού\b|\bnerede\b"
        r"|\bunde\b|ở đâu|कहाँ|कहां|أين"
        r"|ที่ไหน|哪里|在哪|何处|どこ|어디",
    ),
    Want.REASON: re.compile(
        r"\bwhy\b|\bwhat(?:'s| is| was| are)? (?:the )?(?:reason|cause)|\bwhat causes\b"
        r"|\bwarum\b|\bwieso\b|\bweshalb\b"
        r"|\bpor qué\b|\bpourquoi\b|\bperché\b|\bpor que\b|\bпочему\b|\bзачем\b|\bчому\b"
        r"|γιατί\b|\bneden\b|\bniçin\b"
        r"|\bde ce\b|tại sao|vì sao|\bक्यों\b|لماذا|ทำไม|为什么|为何|なぜ|どうして|왜",
    ),
    Want.WHO: re.compile(
        r"\bwho(?:m|se)?\b|\bwer\b|\bwem\b|\bwen\b|\bquién(?:es)?\b|\bqui\b|\bchi\b|\bquem\b"
        r"|\bкто\b|\bкого\b|\bхто\b"
        r"|ποιος\b|ποιοι\b|ποια\b|\bkim(?:dir)?\b|\bcine\b|\bai (?:là|đã)\b|\bकिस(?:ने|की)\b"
        r"|\bकौन\b|مَ?ن (?:هو|هي|الذي|قام)|ใคร|谁|誰|だれ|누가|누구",
    ),
    Want.DEFINITION: re.compile(
        r"^(?:what(?:'s| is| are) (?:an? |the )?[\w .+#-]{1,40}\??$)"
        r"|\bwhat does .{1,40} mean\b|\bdefin(?:e|ition)\b"
        r"|\bmeaning of\b|^was (?:ist|sind) |^qu(?:é|e) (?:es|son|é) |^qu'est-ce|^c'est quoi"
        r"|^cos'è|^что такое|^що таке"
        r"|^τι είναι|\bnedir\b|^ce (?:este|sunt) |là gì|क्या (?:है|हैं)|^ما (?:هو|هي)"
        r"|คืออะไร|是什么|什么是|とは(?:何|$|\?|？)|무엇(?:인가|입니까)",
    ),
    Want.LISTING: re.compile(
        r"\bwhat (?:are|kinds|types|options|features)\b|\b(?:which|what) "
        r"(?!(?:is|are|was|were|do|does|did|has|about|happens)\b)"
        r"(?:(?!(?:is|are|was|were|do|does|did|has|can|should)\b)[\w*:'-]+ ){0,3}?"
        r"(?!(?:is|was|does|has|this|its|us|as|always)\b)[\w*:-]*[^\Ws]s\b"
        r"|\bare there\b|\bwhat(?:'s| is)? (?:changed|new)\b|\bname (?:the|all)\b"
        r"|\ball (?:the |of the )?\w+s\b|\blist\b"
        r"|\bexamples? of\b|\bwelche\b|\bqué tipos\b"
        r"|\bquels?\b|\bquelles?\b|\bquali\b|哪些|どんな|어떤",
    ),
    Want.YES_NO: re.compile(
        r"^(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have|must|may|am)\b"
        r"|^(?:kann|ist|sind|gibt|darf|muss|hat)\b|^¿?(?:es|puedo|hay|tiene)\b|^est-ce\b"
        r"|^(?:puis|peut)\b|吗|[かカ][？?。]?$|니까|나요",
    ),
}  # fmt: skip

_MONTH = (
    r"jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|januar|februar|märz|mai|juni|juli|oktober|dezember|enero"
    r"|febrero"
    r"|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre"
)
_IMPERATIVE = (
    r"add|adjust|apply|build|call|change|check|choose|click|clone|configure|copy|create"
    r"|define|delete|deploy|disable"
    r"|download|edit|enable|ensure|execute|export|extract|find|follow|generate|get|go|import"
    r"|include|initiali[sz]e"
    r"|install|invoke|launch|load|log|make|mount|move|navigate|open|pass|paste|pick|press"
    r"|provide|put|register|remove"
    r"|rename|replace|restart|run|save|select|set|specify|start|stop|switch|try|type"
    r"|uninstall|unpack|update|upgrade|upload|use|verify|visit|write"
)
_ANSWER: dict[Want, re.Pattern[str]] = {
    Want.AMOUNT: re.compile(
        r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen"
        r"|hundred|thousand|million|billion"
        r"|half|third|twice|once|zwei|drei|vier|fünf|sechs|dos|tres|cuatro|cinco|deux|trois"
        r"|quatre|два|три|четыре|пять"
        r"|iki|üç|dört|beş|hai|ba|bốn|năm|doi|trei|patru|cinci|δύο|τρεις|τρία|τέσσερ\w+"
        r"|πέντε|दो|तीन|चार|पांच)\b"
        r"|[一二三四五六七八九十百千万]|สอง|สาม|สี่|ห้า|اثنان|ثلاث|أربع|خمس",
        re.IGNORECASE,
    ),
    Want.WHEN: re.compile(
        rf"\b(?:1\d|20)\d\d\b|\b\d{{1,2}}(?:st|nd|rd|th)? century\b|\b(?:{_MONTH})\b|\d+ ?年"
        rf"|\bsince\b|\bcentury\b|สตวรรษ|\d{{4}}",
        re.IGNORECASE,
    ),
    Want.HOW: re.compile(
        rf"^(?:{_IMPERATIVE})\b|\byou (?:can|need|must|should|have to)\b|\b(?:by"
        rf"|via) (?:\w+ing|using)\b|\buse the\b"
        rf"|, (?:{_IMPERATIVE})\b|^(?:to|in order to) \w+|\bhow to\b|\busing\b"
        rf"|\bkönnen sie\b|\bpuedes?\b|\bvous pouvez\b",
        re.IGNORECASE,
    ),
    Want.WHERE: re.compile(
        r"[\w.~$-]*/[\w./-]+|\b[\w-]+\.(?:ya?ml|toml|json|ini|cfg|conf|md|py|js|ts|env)\b"
        r"|[A-Z]:\\"
        r"|\b(?:located|stored|found|director(?:y|ies)|folder|lives?|saved|in|at"
        r"|near)\b",
    ),
    Want.REASON: re.compile(
        r"\bbecause\b|\bsince\b|\bdue to\b|\bso that\b|\breasons?\b|\bin order to\b"
        r"|\btherefore\b|\bcaus(?:e[sd]?|ing)\b"
        r"|\bas a result\b|\bweil\b|\bda\b|\bdaher\b|\bgrund\b|\bporque\b|\bdebido\b"
        r"|\bparce que\b|\bcar\b|\bпотому\b|\bпоскольку\b|\bиз-за\b"
        r"|επειδή|διότι|\bçünkü\b|\bnedeniyle\b|\bdeoarece\b|\bpentru că\b|\bvì\b|\bdo\b"
        r"|क्योंकि|कारण|لأن|بسبب|เพราะ|เนื่องจาก|因为|由于|因此|ため|から|때문",
        re.IGNORECASE,
    ),
    Want.WHO: re.compile(r"(?<=\w )[A-Z]\w+|\bby [A-Z]|^[A-Z]\w+ [A-Z]\w+"),
    Want.DEFINITION: re.compile(
        r"^.{0,60}?\b(?:is|are) (?:an?|the|used|one|any)\b|\brefers? to\b|\bmeans\b"
        r"|\bstands for\b|\bdefined as\b|\bknown as\b"
        r"|\bist (?:ein|eine|das|der|die)\b|\bes (?:un|una|el|la)\b|\best (?:un|une|le|la)\b"
        r"|\bэто\b|είναι|\bdır\b|\bdir\b|\beste\b|là một|है"
        r"|هو|هي|คือ|是|とは|である|です|입니다|이다",
        re.IGNORECASE,
    ),
    Want.LISTING: re.compile(r":\s|, [^,]+,|;|、"),
    Want.YES_NO: re.compile(
        r"^(?:yes|no|not|it depends|ja|nein|sí|oui|non|да|нет|是|はい|いいえ)\b|\b(?:can(?:not"
        r"|'t)?|does(?: not|n't)|supports?|possible|only|must|never)\b",
        re.IGNORECASE,
    ),
}  # fmt: skip

# How much a cue in a sentence says that it answers, 0 to 1: how often the cue stands in
# answering sentences against others, for the kinds that XQuAD's questions ask for.
STRENGTH: dict[Want, float] = {
    Want.WHEN: 1.0,
    Want.AMOUNT: 0.8,
    Want.WHERE: 0.8,
    Want.REASON: 0.8,
    Want.HOW: 0.7,
    Want.DEFINITION: 0.6,
    Want.LISTING: 0.5,
    Want.WHO: 0.4,
    Want.YES_NO: 0.4,
}


def wants(question: str) -> tuple[Want, ...]:
    """Return the kinds of answers that a question asks for, may be none; order is fixed.

    Amount and date hide the plain *how* and *what* that their phrases contain.
    """
    text = question.strip().casefold()
    found = [want for want, pattern in _QUESTION.items() if pattern.search(text)]
    if Want.AMOUNT in found or Want.WHEN in found:
        found = [want for want in found if want not in {Want.HOW, Want.DEFINITION, Want.LISTING}]
    return tuple(found)


def gives(text: str, want: Want) -> bool:
    """Return whether a text looks like an answer of the kind."""
    return _ANSWER[want].search(text) is not None
