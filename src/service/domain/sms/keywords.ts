/** Words that people text to get no more messages, to get them again, or to ask who writes. */

/** Single words that carriers and providers know; the survey's own texts name STOP and START in every language. */
const STOP_COMMON = ["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"] as const;
const START_COMMON = ["START", "UNSTOP"] as const;
const HELP_COMMON = ["HELP", "INFO"] as const;

/** In lower case; providers with opt-out management of their own answer these by themselves. */
export const PROVIDER_WORDS: ReadonlySet<string> = new Set(
  [...STOP_COMMON, ...START_COMMON, ...HELP_COMMON].map((word) => word.toLowerCase()),
);

export const STOP_WORDS: readonly string[] = [
  ...STOP_COMMON,
  ...wordsIn(
    "stop all, opt out, opt-out, remove me, unsub",
    "إيقاف, ايقاف, توقف, الغاء, إلغاء الاشتراك",
    "стоп, спри, спрете, отписване, откажи, отписаться, отписка, отмена",
    "停止, 退订, 退訂, 取消订阅, 取消訂閱, 取消, td, 配信停止, 解除, ストップ",
    "수신거부, 중지, 정지, 해지, 그만",
    "odjava, odjavi, zrušit, odhlásit, konec, afmeld, frameld, afmelden, uitschrijven, stoppen",
    "lõpeta, loobu, lopeta, peruuta, arret, arrêt, arrêter, désabonner, désinscrire",
    "გათიშვა, შეწყვეტა, სტოპ, stopp, abmelden, abbestellen, ende, σταματα, διακοπη, τελος, στοπ",
    "עצור, הסר, הסרה, ביטול, סטופ, leállít, leiratkozás, leiratkozom, berhenti, batal, henti",
    "annulla, disiscrivi, cancellami, basta, stopt, atteikties, beigt, atsisakyti, sustabdyti",
    "avslutt, avmeld, stoppa, avsluta, avregistrera, rezygnuję, wypisz, anuluj, koniec",
    "sair, parar, pare, cancelar, remover, baja, parar ya, alto, detener, dezabonare, oprește",
    "одјава, заустави, หยุด, ยกเลิก, dur, iptal, ret, dừng, hủy, huy, từ chối, tu choi",
  ),
];

export const START_WORDS: readonly string[] = [...START_COMMON, "resubscribe", "opt in", "opt-in", "старт", "スタート"];

export const HELP_WORDS: readonly string[] = [
  ...HELP_COMMON,
  ...wordsIn(
    "hilfe, aide, ayuda, ajuda, aiuto, hjælp, hjelp, hjälp, apua, hulp, pomoc, помощь",
    "помощ, помоћ, βοήθεια, segítség, yardım, bantuan, 帮助, 幫助, ヘルプ, 도움말, مساعدة, עזרה",
    "ช่วยเหลือ, trợ giúp, abi, palīdzība, pagalba, ajutor, დახმარება, pomoć",
  ),
];

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
  return lines.flatMap((line) => line.split(", "));
}
