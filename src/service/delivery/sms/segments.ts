const GSM_BASIC = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
);
const GSM_EXTENDED = new Set("^{}\\[~]|€\f");

/** Septets or UTF-16 units that fit in a single segment, and in each one of several. */
const GSM = { alone: 160, joined: 153 } as const;
const UCS2 = { alone: 70, joined: 67 } as const;

const PLAIN: readonly (readonly [form: RegExp, plain: string])[] = [
  [/[‘’‚‛´`′]/g, "'"],
  [/[“”„‟«»″]/g, '"'],
  [/[‐‑‒–—―−]/g, "-"],
  [/…/g, "..."],
  [/[\u00A0\u2007\u2009\u202F]/g, " "],
  [/[\u200B\u00AD\uFEFF]/g, ""],
];

export interface SmsText {
  readonly text: string;
  readonly segments: number;
  readonly encoding: "gsm-7" | "ucs-2";
}

export function toSmsText(text: string): SmsText {
  const plain = PLAIN.reduce((rest, [form, sign]) => rest.replaceAll(form, sign), text);
  const sent = isGsm(text) || !isGsm(plain) ? text : plain;
  return { text: sent, segments: countSegments(sent), encoding: isGsm(sent) ? "gsm-7" : "ucs-2" };
}

function countSegments(text: string): number {
  const inGsm = isGsm(text);
  const sizes = Array.from(text, (letter) => (inGsm ? (GSM_EXTENDED.has(letter) ? 2 : 1) : letter.length));
  const { alone, joined } = inGsm ? GSM : UCS2;
  if (sizes.reduce((sum, size) => sum + size, 0) <= alone) return 1;
  let [segments, used] = [1, 0];
  for (const size of sizes) {
    if (used + size > joined) [segments, used] = [segments + 1, 0];
    used += size;
  }
  return segments;
}

function isGsm(text: string): boolean {
  for (const letter of text) if (!GSM_BASIC.has(letter) && !GSM_EXTENDED.has(letter)) return false;
  return true;
}
