"""Words that carry no meaning of their own, by language, in folded form."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from fingerpost.text.scripts import fold

__all__ = ["is_stop_word", "listed_languages", "stop_words"]

# Not "andere": folded it is "ändere" (change) as well, and that tells something.
_LISTS: Final[Mapping[str, str]] = {
    "en": "a about above after again against all also am an and any are aren't as at be "
    "because been before being below between both but by can cannot can't could "
    "couldn't did didn't do does doesn't doing don't down during each either etc few "
    "for from further had has have having he her here hers herself him himself his "
    "how i if in into is isn't it its itself just let may me might more most much "
    "must my myself neither no nor not now of off on once only or other our ours out "
    "over own please same shall she should shouldn't so some such than that the their "
    "theirs them themselves then there these they this those through thus to too "
    "under until up upon us very was wasn't we were weren't what when where whether "
    "which while who whom whose why will with won't would wouldn't yet you your yours "
    "yourself",
    "de": "aber alle allem allen aller alles als also am an auch auf aus bei "
    "beim bin bis bist da damit dann das dass dein deine dem den denn der des dessen "
    "die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem "
    "einen einer eines einige er es etwas euer eure für gegen gibt hab habe haben hat "
    "hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in "
    "indem ins ist ja jede jedem jeden jeder jedes kann kein keine können könnte mehr "
    "mein meine mich mir mit muss müssen nach nicht nichts noch nun nur ob oder ohne "
    "sehr sein seine seinem seinen seiner seit sich sie sind so soll sollte sondern "
    "sonst über um und uns unser unter viel vom von vor war waren warum was welche "
    "welchem welchen welcher welches wenn wer werde werden wie wieder wir wird wo "
    "wurde wurden würde zu zum zur zwar zwischen",
    "fr": "à afin ai ainsi alors au aucun aussi autre autres aux avaient avait avant avec "
    "avez avoir avons bien ça car ce ceci cela celle celles celui ces cet cette ceux "
    "chaque chez comme comment dans de des donc dont du elle elles en encore entre "
    "est et étaient était été être eu eux fait faire fois font il ils je jusque la là "
    "le les lesquelles lesquels leur leurs lors lui ma mais me même mes moi moins mon "
    "ne ni non nos notre nous on ont or ou où par parce pas peu peut peuvent plus "
    "pour pourquoi qu quand que quel quelle quelles quels qui quoi sa sans se sera "
    "ses si sien soit son sont sous sur ta te tes toi ton tous tout toute toutes très "
    "tu un une vers vos votre vous y",
    "es": "a al algo algunas algunos ante antes aquel aquella como cómo con contra cual "
    "cuál cuales cuáles cuando cuándo cuánto cuántos cuánta cuántas de del desde "
    "donde dónde dos durante e el él ella ellas ellos en entre era eran es esa esas "
    "ese eso esos esta está están estas este esto estos fue fueron ha había han hasta "
    "hay la las le les lo los más me mi mientras muy nada ni no nos nosotros nuestra "
    "nuestro o os otra otras otro otros para pero poco por porque qué que quien quién "
    "quiénes se según sea ser si sí sido sin sobre son su sus también tanto te tiene "
    "tienen todo todos tu tus un una unas uno unos y ya yo",
    "pt": "a à ao aos as às até com como da das de dela dele deles depois do e é ela elas "
    "ele eles em entre era eram essa essas esse esses esta está estão estas este "
    "estes eu foi foram há isso isto já la lhe lhes lo mais mas me mesmo meu meus "
    "minha minhas muito na não nas nem no nos nós nossa nosso num numa o os ou para "
    "pela pelas pelo pelos por porque porquê qual quais quando quanto que quê quem "
    "são se sem ser será seu seus só sobre sua suas também te tem têm tinha tu tua um "
    "uma você vocês onde",
    "it": "a ad agli ai al alla alle allo anche c che chi ci come con contro cosa così cui "
    "da dagli dai dal dalla dalle dallo degli dei del della delle dello dentro di "
    "dopo dove e è ed era erano essere fra gli ha hai hanno ho i il in io l la le lei "
    "li lo loro lui ma mi mia mie mio molto ne negli nei nel nella nelle nello noi "
    "non nostra nostro o ogni per perché perciò più poi può qual quale quali quando "
    "quanto quella quelle quelli quello questa queste questi questo qui se sei senza "
    "si sia siamo sono sta su sua sue sugli sui sul sulla sulle suo suoi tra tu tua "
    "tuo tutti tutto un una uno vi voi",
    "nl": "aan al alle als altijd ander andere ben bij daar dan dat de der deze die dit "
    "doch doen door dus een en er ge geen had heb hebben heeft hem het hier hij hoe "
    "hun iets ik in is ja je jij kan kunnen kun maar me meer men met mij mijn moet "
    "moeten na naar niet niets nog nu of om omdat ons onze ook op over te tegen toch "
    "toen tot u uit uw van veel voor waar waarom wanneer waren was wat we wel welke "
    "werd wie wij wil worden wordt zal ze zich zij zijn zo zonder zou",
    "pl": "a aby ale ani bardzo bez bo by być był była było były byli ci co czy dla do gdy "
    "gdzie i ich ile im inne iż ja jak jaka jaki jakie jako je jego jej jest jeszcze "
    "jeśli już każdy kiedy kto która które którego której który których którym lub ma "
    "mają mi może można mu na nad nie nich nim niż o od on ona one oni oraz po "
    "ponieważ przed przez przy są się tak także tam te tego tej to tu ty tych tylko "
    "tym u w we więc wszystko z za ze że żeby",
    "tr": "acaba ama ancak bana bazı belki ben beni bir biri birkaç biz bize bu buna bunda "
    "bundan bunlar bunu bunun çok çünkü da daha de defa değil diye en gibi hangi hem "
    "hep her hiç için ile ise kadar ki kim kimi mı mi mu mü nasıl ne neden nedir "
    "nerede nereye niçin niye o olan olarak oldu olduğu olur on ona onlar onu onun "
    "sen şey siz şu tüm ve veya ya yani",
    "id": "ada adalah agar akan antara apa apakah atau bagaimana bagi bahwa banyak beberapa "
    "belum bisa dalam dan dapat dari dengan di dia hanya harus ia ini itu jadi jika "
    "juga kami kamu kapan karena ke kepada ketika kita lain lebih maka mana mengapa "
    "mereka oleh pada para saat saya sebagai sebuah secara sedang semua seperti serta "
    "siapa sudah tapi telah tentang tersebut tetapi tidak untuk yaitu yang",
    "vi": "bị bởi cả các cái cần càng chỉ cho chưa chứ có của cùng cũng đã đang đây để đến "
    "đều điều do đó được gì hay hơn khi không là lại làm lên lúc mà mỗi một nào này "
    "nên nếu ngay nhiều như nhưng những nơi nữa ở phải qua ra rằng rất rồi sao sau sẽ "
    "tại theo thì trên trong từ tới và vẫn vào vậy vì việc với",
    "ru": "а без более бы был была были было быть в вам вас ведь весь во вот все всего всех "
    "всю вы где да даже для до его ее если есть еще же за здесь и из или им их к как "
    "какая какие какой каким каких какую когда кого кто которая которого которой "
    "которую которые который которых ли либо лишь между меня мне может можно мой моя "
    "мы на над надо нас наш не него нее нет ни них но ну о об однако он она они оно "
    "от очень по под после потому при про с сам свой своего своей своих себя сколько "
    "со так также такой там те тем то того тоже той только том ты у уже чего чем что "
    "чтобы чье чья эта эти это этого этой этом этот этих я является",
    "uk": "а або але б без би був була були було бути в вам вас ви від він вона вони воно "
    "все всі де для до є з за зі і із її їх його й як яка яке який які якого якої "
    "яких якщо коли кого кожен крім лише між мене мені ми може можна моя на над нам "
    "нас не нею ні ним них о об однак ось от по під після при про с свою своєї своїх "
    "себе собі та так також там те ти тим тільки то того тої тому у хоч хто це цей ця "
    "ці цього цієї через чи чим чого чому що щоб я",
    "el": "ένα ένας έναν ένός μια μία ο η το οι τα του της των τον την τη τους τις και κι ή "
    "αν ότι που πως πώς να θα δεν δε μην μη με σε για από στο στη στην στον στα στις "
    "στους αλλά όμως είναι ήταν έχει έχουν είχε αυτό αυτή αυτός αυτά αυτές αυτοί "
    "αυτών όταν όπως τι ποιος ποια ποιο ποιες πού πότε γιατί πόσο πόσα πιο πολύ κάθε "
    "ως προς κατά μετά πριν εγώ εσύ εμείς μας σας",
    "ar": "في من على إلى الى عن مع هذا هذه ذلك تلك هو هي هم ما ماذا متى أين كيف لماذا لم لن "
    "لا إن أن ان كان كانت قد كل بعد قبل بين حتى أو او ثم التي الذي الذين عند عندما "
    "غير أي أية منذ كما لكن بل و هل به بها فيه فيها له لها منه منها كم مما حول خلال "
    "وقد وهو وهي ولم وفي ومن",
    "fa": "از به در با و که این آن را است برای تا هم بر یا می ها های هر اما اگر چه چرا "
    "چگونه کجا کی بود باشد شود شد شده کرد کند کنند نیست هستند بین یک دو خود ما شما او "
    "آنها نیز پس همه باید",
    "ur": "کے کی کا میں ہے ہیں اور سے کو نے پر یہ وہ کہ اس ان جو تھا تھے تھی ایک بھی کر کیا "
    "ہو تو نہیں گیا گئی لیے ساتھ کسی تک جب کب کہاں کیوں کیسے ہوتا ہوتے ہوئے اپنے",
    "hi": "का के की में है हैं और से को ने पर यह वह कि इस उस जो था थे थी एक भी कर क्या हो "
    "तो नहीं गया गई लिए साथ किसी तक जब कब कहाँ क्यों कैसे किया करने होता होती होते "
    "हुए अपने द्वारा या इन उन कौन कितने कितनी किस ये वे रहा रहे रही दिया जाता जाती "
    "जाने बाद कुछ ही उनके उनकी इसके इसकी",
    "he": "של את על לא הוא היא זה זו זאת עם אם כי גם או אבל אני אתה אנחנו הם הן מה מי איך "
    "איפה מתי למה כל יש אין היה היתה היו להיות בין אל כן רק עוד אשר כך כמו לפני אחרי "
    "עד ב ל מ ה ו ש",
}  # fmt: skip


_LATIN: Final = ("en", "de", "fr", "es", "pt", "it", "nl", "pl", "tr", "id", "vi")


def is_stop_word(word: str, language: str) -> bool:
    """Tell whether a folded word is a stop word of ``language``, English when that is unknown.

    Words in other than Latin letters are looked up in the lists of all languages.
    """
    if word.isascii():
        return word in stop_words(language if language in _LATIN else "en")
    return word in _other_scripts()


@lru_cache(maxsize=32)
def stop_words(language: str) -> frozenset[str]:
    """Return the folded stop words of an ISO 639-1 code; empty for a language without a list."""
    words = _LISTS.get(language, "").split()
    return frozenset(fold(word).casefold().replace("'", "") for word in words)


def listed_languages() -> tuple[str, ...]:
    """Return the ISO 639-1 codes that have a list, those in Latin letters first."""
    return (*_LATIN, *(language for language in _LISTS if language not in _LATIN))


@lru_cache(maxsize=1)
def _other_scripts() -> frozenset[str]:
    others = (language for language in _LISTS if language not in _LATIN)
    return frozenset().union(*(stop_words(language) for language in others))
