/** An address with invisible characters looks like another one and can't be delivered. */
export const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

const NAMES: ReadonlyMap<number, string> = new Map([
  [0x00ad, "soft hyphen"],
  [0x034f, "combining grapheme joiner"],
  [0x061c, "Arabic letter mark"],
  [0x180e, "Mongolian vowel separator"],
  [0x200b, "zero width space"],
  [0x200c, "zero width non-joiner"],
  [0x200d, "zero width joiner"],
  [0x200e, "left-to-right mark"],
  [0x200f, "right-to-left mark"],
  [0x202a, "left-to-right embedding"],
  [0x202b, "right-to-left embedding"],
  [0x202c, "pop directional formatting"],
  [0x202d, "left-to-right override"],
  [0x202e, "right-to-left override"],
  [0x2060, "word joiner"],
  [0x2066, "left-to-right isolate"],
  [0x2067, "right-to-left isolate"],
  [0x2069, "pop directional isolate"],
  [0xfeff, "zero width no-break space"],
]);

export function describeInvisible(text: string): string | null {
  if (text.search(INVISIBLE) === -1) return null;
  const characters = Array.from(text);
  const at = characters.findIndex((char) => char.search(INVISIBLE) !== -1);
  const found = characters[at];
  return found === undefined ? null : `an invisible character, ${describeCharacter(found)}, at position ${at + 1}`;
}

function describeCharacter(char: string): string {
  const name = NAMES.get(char.codePointAt(0) ?? 0);
  return name === undefined ? codePointName(char) : `${codePointName(char)} (${name})`;
}

const QUOTED_MAX = 100;

export function quoteText(text: string): string {
  const characters = Array.from(text.slice(0, 2 * QUOTED_MAX + 1));
  const shown = characters.length > QUOTED_MAX ? `${characters.slice(0, QUOTED_MAX).join("")}…` : text;
  return JSON.stringify(shown).replaceAll(INVISIBLE, (char) => codePointName(char));
}

export function codePointName(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
