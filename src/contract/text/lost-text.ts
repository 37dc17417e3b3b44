import { isStorableText } from "./storable.ts";

/** Error values of spreadsheets in English, German, French and Spanish. */
const ERROR_VALUE =
  /^#(?:N\/A|REF!|VALUE!|DIV\/0!|NAME\?|NUM!|NULL!|SPILL!|CALC!|FIELD!|ERROR!|GETTING_DATA|NV|BEZUG!|WERT!|ZAHL!|VALEUR!|NOM\?|NOMBRE!|¡REF!|¡VALOR!|¿NOMBRE\?|¡NUM!|¡DIV\/0!)$/;

const HASH = 35;

/** What is wrong with a cell, phrased to follow it; null if it is fine. */
export function findLostText(cell: string): string | null {
  if (cell.charCodeAt(0) === HASH && ERROR_VALUE.test(cell.trim())) return "is an error of a spreadsheet's formula";
  if (cell.includes("\ufffd")) return "contains U+FFFD in place of a character that was lost";
  return isStorableText(cell) ? null : "contains a character that cannot be stored";
}
