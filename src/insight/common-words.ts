/**
 * Words without a meaning of their own, of each language in which surveys go out (37 locales): articles, pronouns,
 * prepositions, forms of "to be". Words that deny are none of them: "not helpful" says something.
 */
const LISTS: Readonly<Record<string, string>> = {
  en: "a an the and or but if so as at by for from in into of on onto to with within about above after again all also am any are because been before being both can could did do does during each few had has have he her here hers him his how i i'd i'll i'm i've is it it's its itself just me more most much my myself other our ours own same she should some such than that that's their theirs them then there these they they're this those through too under until very was we we're we've were what when where which while who whom whose why will would you you're your yours really get got one",
  de: "der die das den dem des ein eine einer eines einem einen und oder aber wenn dass daß als auch am an auf aus bei beim bin bis bist da damit dann dein denn dessen doch dort du durch er es etwas euch euer für habe haben hat hatte hatten hier ich ihm ihn ihnen ihr ihre im in ins ist ja jede jeder jedes jetzt kann können man mein meine mich mir mit nach noch nun nur ob seid sein seine sehr sich sie sind so über um uns unser unsere unter vom von vor war waren was weil werden wie wir wird wo würde zu zum zur",
  fr: "le la les un une des du de d l à au aux et ou où mais si que qui quoi dont ce cet cette ces ça cela c'est est es suis sommes êtes sont était étaient été être ai as a avons avez ont avait avoir il elle ils elles on nous vous je tu me te se moi toi lui leur leurs mon ma mes ton ta tes son sa ses notre nos votre vos en dans par pour sur avec chez vers entre y comme plus très trop aussi tout toute tous toutes même fait faire bien car donc alors quand",
  es: "el la los las un una unos unas lo al del de a ante con contra desde en entre hacia hasta para por según sobre tras y e o u pero si que quien quienes cual cuando donde como es soy eres somos son era eran fue fueron ser sido está están estoy estaba estar ha han he hemos había haber hay yo tú él ella ellos ellas nosotros usted ustedes me te se nos le les mi mis tu tus su sus nuestro nuestra este esta esto estos estas ese esa eso esos esas aquel muy más también ya todo toda todos todas porque",
  pt: "o a os as um uma uns umas de do da dos das em no na nos nas num numa ao à aos às por pelo pela para pra com sem sobre entre até e ou mas se que quem qual quando onde como é sou somos são era eram foi foram ser sido está estão estou estava estar tem têm tenho tinha ter há eu tu ele ela eles elas nós você vocês me te lhe meu minha meus minhas seu sua seus suas nosso nossa este esta isto esse essa isso aquele aquela muito muita mais também já todo toda todos todas porque",
  it: "il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai agli alle da dal dalla dai in nel nella nei nelle con su sul sulla per tra fra e ed o ma se che chi cui quale quando dove come è sono sei siamo siete era erano stato stata essere ho hai ha abbiamo hanno aveva avere io tu lui lei noi voi loro mi ti si ci vi ne mio mia miei mie tuo tua suo sua nostro nostra questo questa questi queste quello quella molto molta più anche già tutto tutta tutti tutte perché",
  nl: "de het een en of maar als dat die dit deze er is ben bent was waren wordt worden zijn heeft heb hebben had ik jij je u hij zij ze wij we jullie mij me hem haar ons onze hun mijn jouw uw van voor in op aan met bij naar uit over onder tot door om te ten ter tegen na zo ook nog al dan wel heel erg veel meer zeer wat wie waar wanneer hoe waarom daar hier want omdat kan kunnen zou zal wil",
  da: "den det de en et og eller men hvis at som der er var været være bliver blev har havde have jeg du han hun vi i mig dig ham hende os jer dem min mit mine din dit sin sit vores deres på af til fra med for om over under ved efter så også meget mere mest end når hvor hvad hvem hvorfor hvordan kan kunne skal skulle vil ville må her denne dette disse ud op ind da fordi",
  sv: "den det de en ett och eller men om att som är var varit vara blir blev har hade ha jag du han hon vi ni mig dig honom henne oss er dem min mitt mina din ditt sin sitt vår våra deras på av till från med för över under vid efter i så också mycket mer mest än när vad vem varför hur kan kunde ska skulle vill ville måste här denna detta dessa ut upp in då eftersom",
  nb: "den det de en et ei og eller men hvis at som er var vært være blir ble har hadde ha jeg du han hun vi dere meg deg ham henne oss dem min mitt mine din ditt sin sitt vår våre deres på av til fra med for om over under ved etter i så også veldig mye mer mest enn når hvor hva hvem hvorfor hvordan kan kunne skal skulle vil ville må her denne dette disse ut opp inn da fordi",
  fi: "ja tai mutta jos että joka jotka mikä mitä kuka kun kuin niin myös on oli olivat ovat olen olet olemme ollut olla minä sinä hän me te he minun sinun hänen meidän teidän heidän minua minulle se ne sen sitä siitä siinä tämä tämän tätä nämä tuo siis sekä vain hyvin erittäin todella paljon enemmän jo vielä kanssa ilman ennen jälkeen sitten koska voi voisi täytyy",
  et: "ja või aga kui et kes mis mida see selle seda need nende on oli olid olen oled oleme olnud olla olema mina ma sina sa tema ta meie me teie te nemad nad minu sinu oma meil teil mul ka siis nii väga palju rohkem veel juba ainult kõik kus kuidas miks kuna sest ning koos enne pärast peale läbi saab võib tuleb",
  lv: "un vai bet ja ka kas ko kad kur kā tas tā to tie tās šis šī šo ir bija esmu esi esam būt bijis es tu viņš viņa mēs jūs viņi man tev mums jums viņiem mans mana savs sava ar par no uz pie pēc pirms bez līdz ļoti arī jau vēl tikai vairāk daudz visi viss tāpēc jo lai gan var",
  lt: "ir ar bet jei kad kas ką kur kaip tai tas ta tie tos šis ši yra buvo esu esi esame būti buvęs aš tu jis ji mes jūs jie jos man tau mums jums jiems mano tavo savo mūsų jūsų su apie iš į ant prie po prieš be iki labai taip pat jau dar tik daugiau daug visi viskas nes todėl gali galima",
  pl: "i a oraz lub albo ale jeśli że żeby który która które którzy co kto kiedy gdzie jak to ten ta te tego tej tym tych jest są był była było byli być mam masz ma mamy mają ja ty on ona ono my wy oni one mi mnie cię go jej nas was ich mój moja moje twój swój nasz w we z ze na do od po przed przy dla o u za pod nad przez bardzo też także już jeszcze tylko więcej tak się bo ponieważ więc",
  cs: "a i nebo ale když že aby který která které co kdo kdy kde jak to ten ta ty toho té tom těch je jsou byl byla bylo byli být jsem jsi jsme jste mám má máme mají já on ona ono my vy oni mi mě tě ho jí nás vás jich můj moje tvůj svůj náš v ve z ze na do od po před při pro o u za pod nad přes velmi také už ještě jen více tak se si protože proto",
  hr: "i ili ali ako da koji koja koje što tko kad kada gdje kako to taj ta te toga tog tome je su bio bila bilo bili biti sam si smo ste imam ima imamo imaju ja ti on ona ono mi vi oni one me ga ju nas vas ih moj moja moje tvoj svoj naš u s sa na do od po prije kod za o uz iz kroz vrlo jako također već još samo više tako se jer zato bi",
  sr: "и или али ако да који која које што ко кад када где како то тај та те тога је су био била било били бити сам си смо сте имам има имамо имају ја ти он она оно ми ви они ме га нас вас их мој моја свој наш у с са на до од по пре код за о уз из кроз врло јако такође већ још само више тако се јер зато би ili ako da koji koja koje što ko kad gde kako taj je su bio bila bilo sam si smo ste imam ima ja ti on ona ono mi vi oni me ga nas vas ih u s sa na do od po kod za o iz već još samo više tako se jer zato bi",
  bg: "и или но ако че да който която което които какво кой кога къде как това този тази тези е са беше бяха съм си сме сте бъде имам има имаме имат аз ти той тя то ние вие те ме ми го му я ги нас вас им мой моя свой наш в във с със на до от по пред при за о под над през много също вече още само повече така се защото затова ще",
  ru: "и а или но если что чтобы который которая которое которые кто когда где как это этот эта эти то тот та те есть был была было были быть я ты он она оно мы вы они мне меня тебе тебя его ему её ей нас нам вас вам их им мой моя моё мои твой свой наш ваш в во с со на до от по перед при для о об у за под над через из очень тоже также уже ещё еще только больше так же бы ли ведь потому поэтому все всё",
  el: "ο η το οι τα του της των τον την τους τις ένα ένας μια μία και ή αλλά αν ότι που πως όταν όπου όπως τι ποιος αυτό αυτός αυτή αυτά είναι ήταν είμαι είσαι είμαστε έχω έχει έχουμε έχουν είχε εγώ εσύ εμείς εσείς μου σου μας σας με σε στο στη στην στον στα στις από για προς κατά μετά πριν χωρίς πολύ πάρα επίσης ήδη ακόμα μόνο πιο έτσι γιατί θα να",
  hu: "a az egy és vagy de ha hogy aki ami amely mi ki mikor hol hogyan ez azt ezt ezek azok van volt voltak vagyok vagyunk lenni lesz én te ő ti ők engem nekem neked neki nekünk enyém is már még csak nagyon több sok így úgy mint mert ezért meg fel le be el által alatt után előtt nélkül való kell lehet",
  ro: "și sau dar dacă că care cine ce când unde cum acesta aceasta acest această acestea acela este e sunt era erau am ai are avem aveți au avut fi fost eu tu el ea noi voi ei ele mă te îl o ne vă îi le mi ți i meu mea tău său sa nostru un unui unei în din de la pe cu pentru prin peste sub după înainte până foarte mai tot toate toți deja încă doar așa se să",
  tr: "ve veya ya da de ama eğer ki bu şu o bunlar şunlar onlar bir biz siz ben sen bana sana ona bize size beni seni onu bizi sizi benim senin onun bizim sizin ile için gibi kadar göre sonra önce çok daha en her hep sadece hem ise idi var olan olarak oldu olduğu mı mi mu mü ne nasıl neden nerede çünkü şey",
  id: "yang dan atau tetapi tapi jika kalau bahwa untuk dari ke di pada dengan oleh dalam sebagai adalah ialah ini itu tersebut saya aku kamu anda dia ia kami kita mereka nya sudah telah akan sedang masih sangat sekali lebih juga hanya saja bisa dapat harus ada karena agar apa siapa kapan mana bagaimana mengapa seperti lagi",
  ms: "yang dan atau tetapi tapi jika kalau bahawa untuk dari daripada ke di pada dengan oleh dalam sebagai adalah ialah ini itu tersebut saya aku awak anda dia ia kami kita mereka nya sudah telah akan sedang masih sangat sekali lebih juga hanya sahaja boleh dapat mesti ada kerana agar apa siapa bila mana bagaimana mengapa seperti lagi",
  vi: "và hoặc nhưng nếu rằng mà của cho từ đến ở trong với bởi như là thì này kia đó ấy tôi tớ bạn anh chị em nó chúng ta mình họ đã đang sẽ vẫn rất lắm quá hơn cũng chỉ có được bị phải các những một nhiều vì nên để gì ai khi đâu sao thế lại ra vào lên",
  ar: "و أو لكن إذا أن إن الذي التي الذين ما من متى أين كيف هذا هذه ذلك تلك هو هي هم نحن أنا أنت أنتم كان كانت يكون في على إلى عن مع بعد قبل بين حتى كل جدا أيضا قد فقط أكثر لأن ثم عند لي لك له لها لنا هناك بها به فيه فيها يا",
  he: "ו או אבל אם ש כי אשר מי מה מתי איפה איך זה זאת זו אלה הוא היא הם הן אני אתה את אתם אנחנו היה הייתה היו יש של על אל מן עם אחרי לפני בין עד כל מאוד גם כבר עוד רק יותר כך לי לך לו לה לנו להם שלי שלך שלו שלה שלנו אותו אותה כמו בגלל",
  ka: "და ან მაგრამ თუ რომ რომელიც რა ვინ როდის სად როგორ ეს ის ისინი იგი მე შენ ჩვენ თქვენ არის იყო იყვნენ ვარ ხარ ვართ აქვს მაქვს გვაქვს ჩემი შენი მისი მათი თავისი ძალიან ასევე უკვე კიდევ მხოლოდ უფრო ასე რადგან ამიტომ ერთი ყველა",
  ja: "の に は を が と で も た て だ です ます まし でし し な か から まで より へ や ね よ わ この その あの どの これ それ あれ ここ そこ する した して さ れ せ ある いる いう う こと もの ため よう とても もっと また そして でも けど ので のに など お ご さん ました でした いただき い たい られ 私 的",
  ko: "그리고 하지만 그런데 그래서 너무 정말 아주 매우 더 잘 좀 이 그 저 것 수 등 및 또 또는 이런 그런 저는 제가 나는 내가 우리 저희 있는 있습니다 있어요 있어서 합니다 해요 했습니다 하는 에서 으로 에게 대한 위해 때 때문에 조금 많이 다 모두",
  th: "ที่ และ ใน ของ เป็น มี การ ได้ ให้ จะ กับ ก็ แต่ มาก แล้ว ว่า นี้ นั้น จาก คือ หรือ ซึ่ง โดย ต้อง ยัง อยู่ ครับ ค่ะ คะ ผม ฉัน เรา คุณ เขา มัน ทุก อีก เพราะ เมื่อ ถ้า ไป มา กว่า ด้วย ความ",
  zh: "的 了 是 在 我 我们 你 你们 您 他 她 它 他们 和 与 及 也 就 都 很 还 有 这 那 个 这个 那个 这些 那些 吧 吗 呢 啊 把 被 让 对 但 但是 而 而且 因为 所以 如果 会 能 可以 要 去 来 上 下 中 到 从 为 等 一 一个 着 过 得 地 之 以 并 或 或者 非常 更 最 我們 你們 他們 這 個 這個 那個 這些 還 對 讓 為 從 來 會 與 過 嗎 並 後 時 嘅 係 喺 咗 啲 佢 佢哋 我哋 同",
};

/** Words that deny, which another language has as common ones. */
const CLUES: Readonly<Record<string, string>> = { en: "no not never", es: "no" };

export const COMMON_WORD_LANGUAGES: readonly string[] = Object.keys(LISTS);

/** Of each such word, the languages that have it. */
const LANGUAGES_BY_WORD = indexLists(LISTS);
const LANGUAGES_BY_CLUE = indexLists(CLUES);

function indexLists(lists: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> {
  const languages = new Map<string, string[]>();
  for (const [language, list] of Object.entries(lists))
    for (const word of new Set(list.split(" "))) languages.set(word, [...(languages.get(word) ?? []), language]);
  return languages;
}

/**
 * Tells the common words of a text, in lower case, from the others. Its language is the one that has most of them: what
 * is common in one language has a meaning in another, as "die" and "van" have.
 */
export function createCommonCheck(words: readonly string[]): (word: string) => boolean {
  const counts = new Map(COMMON_WORD_LANGUAGES.map((language) => [language, 0]));
  for (const word of words)
    for (const languages of [LANGUAGES_BY_WORD.get(word) ?? [], LANGUAGES_BY_CLUE.get(word) ?? []])
      for (const language of languages) counts.set(language, (counts.get(language) ?? 0) + 1);
  const most = Math.max(...counts.values());
  // Of several the first in the list.
  const spoken = COMMON_WORD_LANGUAGES.find((language) => counts.get(language) === most) ?? "";
  return (word) => LANGUAGES_BY_WORD.get(word)?.includes(spoken) ?? false;
}
