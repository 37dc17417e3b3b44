/** Words that people text to get no more messages, to get them again, or to ask who writes. */
import { type Locale, LOCALES } from "../../../contract/locales.ts";

/** Single words that carriers and providers know; the survey's own texts name STOP and START in every language. */
export const STOP_COMMON = ["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"] as const;
export const START_COMMON = ["START", "UNSTOP"] as const;
export const HELP_COMMON = ["HELP", "INFO"] as const;

/** In lower case; providers with opt-out management of their own answer these by themselves. */
export const PROVIDER_WORDS: ReadonlySet<string> = new Set(
  [...STOP_COMMON, ...START_COMMON, ...HELP_COMMON].map((word) => word.toLowerCase()),
);

/** Words of one language, with commas between them. */
export interface LocaleWords {
  readonly stop: string;
  readonly help: string;
  readonly start?: string;
}

/** In whatever language the survey was: people answer in their own. Accents do not count. */
export const LOCALE_WORDS: Readonly<Record<Locale, LocaleWords>> = {
  ar: { stop: "إيقاف, ايقاف, توقف, الغاء, إلغاء الاشتراك", help: "مساعدة" },
  bg: { stop: "стоп, спри, спрете, отписване, откажи", help: "помощ", start: "старт" },
  "zh-CN": { stop: "停止, 退订, 取消订阅, 取消, td", help: "帮助" },
  "zh-HK": { stop: "停止, 退訂, 取消訂閱, 取消", help: "幫助" },
  "zh-TW": { stop: "停止, 退訂, 取消訂閱, 取消", help: "幫助" },
  hr: { stop: "odjava, odjavi", help: "pomoć" },
  cs: { stop: "zrušit, odhlásit, konec", help: "pomoc" },
  da: { stop: "afmeld, frameld, stopp", help: "hjælp" },
  nl: { stop: "afmelden, uitschrijven, stoppen", help: "hulp" },
  en: { stop: "stop all, opt out, opt-out, remove me, unsub", help: "", start: "resubscribe, opt in, opt-in" },
  et: { stop: "lõpeta, loobu", help: "abi" },
  fi: { stop: "lopeta, peruuta", help: "apua" },
  fr: { stop: "arrêt, arrêter, désabonner, désinscrire", help: "aide" },
  ka: { stop: "გათიშვა, შეწყვეტა, სტოპ", help: "დახმარება" },
  de: { stop: "stopp, abmelden, abbestellen, ende", help: "hilfe" },
  el: { stop: "σταματα, διακοπη, τελος, στοπ", help: "βοήθεια" },
  he: { stop: "עצור, הסר, הסרה, ביטול, סטופ", help: "עזרה" },
  hu: { stop: "leállít, leiratkozás, leiratkozom", help: "segítség" },
  id: { stop: "berhenti, batal", help: "bantuan" },
  it: { stop: "annulla, disiscrivi, cancellami, basta", help: "aiuto" },
  ja: { stop: "停止, 配信停止, 解除, ストップ", help: "ヘルプ", start: "スタート" },
  ko: { stop: "수신거부, 중지, 정지, 해지, 그만", help: "도움말" },
  lv: { stop: "stopt, atteikties, beigt", help: "palīdzība" },
  lt: { stop: "atsisakyti, sustabdyti", help: "pagalba" },
  ms: { stop: "berhenti, batal, henti", help: "bantuan" },
  nb: { stop: "avslutt, avmeld, stopp", help: "hjelp" },
  pl: { stop: "rezygnuję, wypisz, anuluj, koniec", help: "pomoc" },
  "pt-BR": { stop: "sair, parar, pare, cancelar, remover", help: "ajuda" },
  pt: { stop: "sair, parar, pare, cancelar, remover", help: "ajuda" },
  ro: { stop: "dezabonare, oprește", help: "ajutor" },
  ru: { stop: "стоп, отписаться, отписка, отмена", help: "помощь", start: "старт" },
  sr: { stop: "одјава, заустави, стоп", help: "помоћ", start: "старт" },
  es: { stop: "baja, parar, parar ya, alto, detener, cancelar", help: "ayuda" },
  sv: { stop: "stoppa, avsluta, avregistrera, stopp", help: "hjälp" },
  th: { stop: "หยุด, ยกเลิก", help: "ช่วยเหลือ" },
  tr: { stop: "dur, iptal, ret", help: "yardım" },
  vi: { stop: "dừng, hủy, huy, từ chối, tu choi", help: "trợ giúp" },
};

export const STOP_WORDS = wordsOf("stop", STOP_COMMON);
export const START_WORDS = wordsOf("start", START_COMMON);
export const HELP_WORDS = wordsOf("help", HELP_COMMON);

function wordsOf(kind: keyof LocaleWords, common: readonly string[]): readonly string[] {
  return [...common, ...LOCALES.flatMap((locale) => wordsIn(LOCALE_WORDS[locale][kind] ?? ""))];
}

/** With these alone around it a word still is the whole message. */
export const COURTESY: readonly string[] = wordsIn(
  "please, pls, plz, thanks, thank you, thank you very much, thx, ty, sorry, now",
  "bitte, danke, vielen dank, merci, svp, s'il vous plaît, por favor, gracias, muchas gracias",
  "obrigado, obrigada, grazie, per favore, tack, takk, tak, venligst, kiitos, dank u, dank je",
  "bedankt, alstublieft, proszę, dziękuję, prosím, děkuji, hvala, molim, хвала, molim vas",
  "спасибо, пожалуйста, благодаря, моля, teşekkürler, lütfen, ευχαριστώ, παρακαλώ, köszönöm",
  "kérem, mulțumesc, vă rog, aitäh, palun, paldies, lūdzu, ačiū, prašau, terima kasih, tolong",
  "cảm ơn, ขอบคุณ, ขอบคุณครับ, ขอบคุณค่ะ, شكرا, من فضلك, תודה, בבקשה, 谢谢, 謝謝, 请, ありがとう",
  "ありがとうございます, お願いします, 감사합니다, გმადლობთ",
);

/** Of lines with commas between the words. */
function wordsIn(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(", ")).filter((word) => word !== "");
}
