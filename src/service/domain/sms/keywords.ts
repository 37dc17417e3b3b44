import { type Locale, LOCALES } from "../../../contract/locales.ts";

/** Words that carriers and providers recognize. Our own texts mention STOP and START in every language. */
export const STOP_COMMON = ["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"] as const;
export const START_COMMON = ["START", "UNSTOP"] as const;
export const HELP_COMMON = ["HELP", "INFO"] as const;

export const PROVIDER_WORDS: ReadonlySet<string> = new Set(
  [...STOP_COMMON, ...START_COMMON, ...HELP_COMMON].map((word) => word.toLowerCase()),
);

export interface LocaleWords {
  readonly stop: string;
  readonly help: string;
  readonly start?: string;
  /** Stop words that are ordinary words in this language, such as "alto" (high) and "dur" (hard). */
  readonly ordinary?: string;
}

/** People may answer in a different language than the survey's. Accents are ignored. */
export const LOCALE_WORDS: Readonly<Record<Locale, LocaleWords>> = {
  ar: { stop: "إيقاف, ايقاف, توقف, الغاء, إلغاء الاشتراك", help: "مساعدة" },
  bg: { stop: "стоп, спри, спрете, отписване, откажи", help: "помощ", start: "старт" },
  "zh-CN": { stop: "停止, 退订, 取消订阅, 取消, td", help: "帮助" },
  "zh-HK": { stop: "停止, 退訂, 取消訂閱, 取消", help: "幫助" },
  "zh-TW": { stop: "停止, 退訂, 取消訂閱, 取消", help: "幫助" },
  hr: { stop: "odjava, odjavi", help: "pomoć", ordinary: "pare" },
  cs: { stop: "zrušit, odhlásit, konec", help: "pomoc" },
  da: { stop: "afmeld, frameld, stopp", help: "hjælp", ordinary: "ret" },
  nl: { stop: "afmelden, uitschrijven, stoppen", help: "hulp" },
  en: { stop: "stop all, opt out, opt-out, remove, remove me, unsub", help: "", start: "resubscribe, opt in, opt-in" },
  et: { stop: "lõpeta, loobu", help: "abi" },
  fi: { stop: "lopeta, peruuta", help: "apua" },
  fr: { stop: "arrêt, arrêter, désabonner, désinscrire", help: "aide", ordinary: "dur" },
  ka: { stop: "გათიშვა, შეწყვეტა, სტოპ", help: "დახმარება" },
  de: { stop: "stopp, abmelden, abbestellen, ende", help: "hilfe" },
  el: { stop: "σταματα, διακοπη, τελος, στοπ", help: "βοήθεια" },
  he: { stop: "עצור, הסר, הסרה, ביטול, סטופ", help: "עזרה" },
  hu: { stop: "leállít, leiratkozás, leiratkozom", help: "segítség" },
  id: { stop: "berhenti, batal", help: "bantuan" },
  it: { stop: "annulla, disiscrivi, cancellami, basta", help: "aiuto", ordinary: "alto" },
  ja: { stop: "停止, 配信停止, 解除, ストップ", help: "ヘルプ", start: "スタート" },
  ko: { stop: "수신거부, 중지, 정지, 해지, 그만", help: "도움말" },
  lv: { stop: "stopt, atteikties, beigt", help: "palīdzība" },
  lt: { stop: "atsisakyti, sustabdyti", help: "pagalba" },
  ms: { stop: "berhenti, batal, henti", help: "bantuan" },
  nb: { stop: "avslutt, avmeld, stopp", help: "hjelp" },
  pl: { stop: "rezygnuję, wypisz, anuluj, koniec", help: "pomoc" },
  "pt-BR": { stop: "sair, parar, pare, cancelar, remover", help: "ajuda", ordinary: "alto" },
  pt: { stop: "sair, parar, pare, cancelar, remover", help: "ajuda", ordinary: "alto" },
  ro: { stop: "dezabonare, oprește", help: "ajutor", ordinary: "dur, pare" },
  ru: { stop: "стоп, отписаться, отписка, отмена", help: "помощь", start: "старт" },
  sr: { stop: "одјава, заустави, стоп", help: "помоћ", start: "старт", ordinary: "pare" },
  es: { stop: "baja, parar, parar ya, alto, detener, cancelar", help: "ayuda", ordinary: "alto" },
  sv: { stop: "stoppa, avsluta, avregistrera, stopp", help: "hjälp" },
  th: { stop: "หยุด, ยกเลิก", help: "ช่วยเหลือ" },
  tr: { stop: "dur, iptal, ret", help: "yardım" },
  vi: { stop: "dừng, hủy, huy, từ chối, tu choi", help: "trợ giúp", ordinary: "huy, dung" },
};

/** `stop` and `no` only count if all other words of the message are of these kinds: "no more texts, please". */
export type WordKind = "stop" | "start" | "help" | "no" | "message" | "filler" | "thanks";

export const WORDS: Readonly<Record<WordKind, readonly string[]>> = {
  stop: keywordList(
    "stop",
    STOP_COMMON,
    "opt me out, stop it, take me off, take my number off, delete me, delete my number, no more, unsubscribed, unsubcribe, unsuscribe, leave me alone, go away, lose my number, wrong number, wrong person, not interested, enough, fuck off, piss off, you have the wrong number, you've got the wrong number, you got the wrong number, this is the wrong number, get me off, cease, cease and desist, do not disturb, un-subscribe, unsubscibe, unsubsribe, falsche nummer",
    "abmeldung, bitte löschen, meine nummer löschen, löschen sie meine nummer, hört auf, hör auf, hören sie auf, aufhören, austragen, aus dem verteiler, kein interesse, lass mich in ruhe, lasst mich in ruhe, lassen sie mich in ruhe, arrêtez, stop pub, désabonnement, désinscription, retirez-moi, enlevez-moi, supprimez mon numéro, désabonnez, désinscrivez, laissez-moi tranquille, mauvais numéro, pas intéressé, pas intéressée, darme de baja",
    "denme de baja, dar de baja, desuscribir, desuscribirme, paren, dejen de, quítenme, bórrenme, borren mi número, elimínenme, déjenme en paz, número equivocado, no me interesa, parem, me remova, remova-me, descadastrar, número errado, não tenho interesse, smettetela, smettete di, cancellatemi",
    "disiscrivetemi, numero sbagliato, non mi interessa, verkeerd nummer, geen interesse, sluta, slutt, fel nummer, feil nummer, forkert nummer, inte intresserad, väärä numero, zły numer, pomyłka",
    "wypiszcie, odhlaste, odjavite, отпишите, удалите мой номер, удалите меня, прекратите, отстаньте, престанете, göndermeyin, atmayın, yollamayın, durdurun, תפסיקו, תפסיק, ngừng, 送らないで, いりません, 打错了, 打錯了",
  ),
  start: keywordList("start", START_COMMON),
  help: keywordList("help", HELP_COMMON),
  no: wordsIn(
    "no, not, don't, dont, do not, never, no longer, kein, keine, keinen, nicht, nie, ne, n', plus, pas, aucun, non, nessun, niente, ningún, nunca, não, nenhum, nenhuma, geen, niet, nooit, inga, inte, aldrig, ikke, ingen, ei, älkää",
    "żadnych, nechci, žádné, nemojte, не, без, хватит, nu, nem, istemiyorum, jangan, tidak, không, đừng, ไม่, อย่า, 不要, 不, 别, 別, 勿, 마세요, 않, 싫어요, لا, بدون, אל, לא, בלי, μην",
  ),
  message: wordsIn(
    "text, texts, texting, txt, txts, sms, message, messages, messaging, msg, msgs, spam, spamming, txting, harassing, consent, survey, surveys, reminder, reminders, contact, contacting, bother, bothering, participate, take part, nachricht, nachrichten, umfrage",
    "umfragen, schreiben, anschreiben, kontaktieren, schreibt, schicken, schickt, senden, texto, textos, sondage, sondages, enquête, enquêtes, envoyer, envoyez, écrire, mensaje, mensajes, encuesta, encuestas, enviar, envíen, escribir, escriban, escribirme, enviarme, manden, mandarme, molestar, molesten, mensagem, mensagens, mandar, mandem",
    "pesquisa, pesquisas, inquéritos, messaggio, messaggi, sondaggio, sondaggi, inviare, mandate, mandatemi, scrivere, scrivetemi, inviatemi, bericht, berichten, sturen, stuur, sms'en, sms'er, meddelande, meddelanden, skicka, besked, beskeder, meldinger, viestejä, lähettää",
    "wiadomości, ankiet, wysyłać, pisać, piszcie, zprávy, posílejte, poruke, šaljite, смс, сообщения, сообщений, опросов, пишите, писать, беспокойте, присылайте, присылать, отправляйте, съобщения, mesaj, mesaje, mesajlar, üzenetet, pesan, kirim, mesej",
    "tin nhắn, nhắn tin, gửi, ข้อความ, ส่ง, 短信, 簡訊, 短訊, 消息, 信息, 訊息, 问卷, 問卷, 发, 發, 傳, メッセージ, メール, アンケート, 配信, 문자, 메시지, 설문, 보내지, 보내세요, رسائل, الرسائل, ترسلوا, הודעות, לשלוח, μηνύματα, enviem, sende",
  ),
  thanks: wordsIn(
    "please, pls, plz, said, thanks, thank you, very much, thx, ty, sorry, now, ok, okay, you are welcome, you're welcome, bitte, danke, vielen dank, merci, svp, s'il vous plaît, por favor, gracias, muchas, obrigado, obrigada, grazie",
    "per favore, tack, takk, tak, venligst, kiitos, dank u, dank je, bedankt, aub, alstublieft, proszę, dziękuję, prosím, děkuji, hvala, molim, хвала, molim vas, спасибо, пожалуйста, благодаря, моля, teşekkürler, lütfen, ευχαριστώ",
    "παρακαλώ, köszönöm, kérem, mulțumesc, vă rog, aitäh, palun, paldies, lūdzu, ačiū, prašau, terima kasih, tolong, cảm ơn, ขอบคุณ, ครับ, ค่ะ, شكرا, من فضلك, תודה, בבקשה, 谢谢, 謝謝, 请, 請, ありがとうございます, ありがとう, お願いします, 감사합니다, გმადლობთ",
  ),
  filler: wordsIn(
    "to, the, from, of, with, for, a, an, any, anymore, all, these, this, that, those, them, me, my, i, you, your, us, and, number, list, take, off, out, want, wish, would, like, get, receive, receiving, send, sending",
    "again, more, further, future, how, do, can, will, i'd, i am, i'm, reply, need, just, already, asking, calling, hi, hello, the end, never get, never receive, mehr, weiteren, diese, mir, mich, ich, möchte, von, ihnen, mit, den, dem, die, zu, zum, und, m', moi, je, veux, souhaite",
    "de, recevoir, vos, ces, des, du, par, pour, vous, votre, liste, lista, la, más, quiero, recibir, sus, estos, los, las, eu, mais, quero, receber, suas, essas, as, più, da, dalla, voglio, ricevere, altri, vostri, per, meer, wil, ik, ontvangen, mij, om, fler",
    "vill, ha, få, mig, mer, jag, att, flere, vil, jeg, meg, enää, halua, więcej, mi, mnie, chcę, otrzymywać, už, víc, više, želim, primati, мне, больше, хочу, получать, ваши, ваших, bana, artık, daha, lagi, saya, mau, nữa, tôi, muốn",
    "nhận, cho, อีก, ฉัน, 再, 我, 给, 給, 了, 收到, 想, もう, は, を, ください, 더, 이상, 저에게, 를, 을, لي, المزيد, أريد, من, לי, יותר, עוד, רוצה, לקבל, μου, άλλα, πλέον, met, å, mijn, меня",
  ),
};

function keywordList(kind: "stop" | "start" | "help", common: readonly string[], ...more: readonly string[]): string[] {
  return [...common, ...wordsIn(...LOCALES.map((locale) => LOCALE_WORDS[locale][kind] ?? ""), ...more)];
}

export const AROUND_NUMBERS = {
  /** Words around a score that don't change its meaning: "sorry, 8", "I meant 8", "8 points". */
  score: wordsIn(
    "sorry, oops, ups, i meant to say, i meant, i mean, meant, actually, correction, make it, make that, it should be, should be, rather, my bad, typo, no, score, my score is, rating, points, point, pts, ich meinte, ich meine",
    "meinte, korrektur, nein, doch, punkte, note, pardon, je voulais dire, désolé, désolée, non, erreur, perdón, quise decir, corrección, puntos, desculpe, quis dizer, não, pontos, nota, scusa, scusi, intendevo, volevo dire",
    "punti, ik bedoel, ik bedoelde, nee, punten, jag menade, nej, poäng, jeg mente, nei, poeng, tarkoitin, przepraszam, miało być, nie, omlouvám se, ошибся, ошиблась, извините, нет, балл, балла, баллов, 对不起, 抱歉, 应该是, 應該是, すみません",
    "訂正, 죄송합니다, 아니",
  ),
  outOf: wordsIn(
    "out of, of, von, sur, de, di, su, van, av, af, z, ze, iz, od, из, із, от, az, din, από, στα, iš, no, dari, daripada, trên, จาก, מתוך, من",
  ),
  /** Words between numbers that aren't a single score: "8 or 9", "0 to 10". */
  between: wordsIn(
    "or, to, and, oder, bis, und, ou, à, et, o, a, al, y, e, tot, en, eller, til, till, och, og, tai, või, nebo, až, lub, do, ili, или, до, и, vagy, sau, vai, ar, ή, ან, atau, veya, hoặc, đến, หรือ, ถึง, 또는, 에서, أو, إلى, או, עד",
  ),
  counted: wordsIn(
    "star, stars, times, visit, visits, problem, problems, issues, complaints, people, persons, orders, calls, seconds, minute, minutes, hour, hours, day, days, week, weeks, month, months, year, years, percent, sterne, minuten",
    "stunden, tage, tagen, wochen, monate, jahre, prozent, besuche, probleme, étoile, étoiles, fois, secondes, heures, jours, semaines, mois, ans, visites, estrella, estrellas, estrela, estrelas, veces, vezes, minutos, horas",
    "días, dias, semanas, meses, años, anos, visitas, problemas, stella, stelle, volte, minuti, ore, giorni, settimane, mesi, anni, sterren, keer, uur, dagen, weken, maanden, jaar, stjärnor, gånger, timmar, dagar, veckor",
    "månader, stjerner, ganger, gange, timer, dager, dage, uker, uger, måneder, tähteä, päivää, viikkoa, gwiazdki, gwiazdek, razy, godzin, dni, tygodni, tygodnie, miesięcy, hvězd, hvězdy, hodin, dnů, týdnů, звезд, звезды, раз",
    "раза, минут, минуты, часа, часов, дня, дней, недели, недель, месяца, месяцев, лет, года, αστέρια, csillag, stele, zile, luni, yıldız, dakika, saat, gün, hafta, bintang, menit, hari, minggu, sao, phút, giờ, ngày, tuần, ดาว",
    "วัน, 星, 颗星, 顆星, 天, 小时, 小時, 分钟, 分鐘, 時間, 日間, 週間, 별, 시간",
  ),
};

/** Beginnings of automatic replies that are sent while driving. */
export const DRIVING = wordsIn(
  "i'm driving with, i'm driving right now, i am driving right now, i'm currently driving, i'm not receiving notifications, automatic reply, auto reply, auto-reply, ich fahre gerade mit, ich fahre gerade auto, ich fahre gerade im auto, ich erhalte keine mitteilungen, je conduis avec, je ne reçois pas de notifications, no recibo notificaciones",
  "je conduis actuellement, je suis au volant, estoy conduciendo con, estoy conduciendo ahora, estou dirigindo com, estou a conduzir com, sto guidando con, sono alla guida con, ik rijd met",
  "ik ben aan het rijden met, jag kör med, jeg kører med, jeg kjører med, prowadzę samochód, я за рулем, 我正在开车, 我正在開車, 運転中です, 운전 중",
);

export function wordsIn(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(", ")).filter((word) => word !== "");
}
