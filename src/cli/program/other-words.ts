/** Words of other tools, each with the command that does the same here. None is a command: one thing has one name. */

/** By all words that were typed in a command's place. */
export const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ["login", "auth login"],
  ["logout", "auth logout"],
  ["status", "auth status"],
  ["whoami", "auth status"],
  ["doctor", "service delivery doctor"],
  ["service doctor", "service delivery doctor"],
  ["service status", "service delivery status"],
  ["pause", "service pause"],
  ["resume", "service resume"],
  ["backup", "service backup"],
  ["restore", "service restore"],
  ["key", "service key list"],
  ["keys", "service key list"],
  ["service keys", "service key list"],
  ["webhooks", "service webhook list"],
  ["nps", "metrics"],
  ["score", "metrics"],
  ["stats", "metrics"],
  ["export", "responses export"],
  ["search", "responses list --search TEXT"],
  ["responses search", "responses list --search TEXT"],
  ["list", "people list"],
  ["view", "people show"],
  ["get", "people show"],
  ["add", "people add"],
  ["create", "people add"],
  ["send", "people add"],
  ["edit", "people update"],
  ["delete", "people delete"],
  ["rm", "people delete"],
  ["update", "people update"],
]);

/** Words for a verb, and the verbs that may be meant, the likeliest first. */
const VERBS: readonly (readonly [words: readonly string[], verbs: readonly string[]])[] = [
  [
    ["delete", "remove", "rm"],
    ["delete", "remove", "revoke", "retire", "logout", "clear", "clean"],
  ],
  [["search", "find"], ["list"]],
  [
    ["view", "show", "get"],
    ["show", "get", "status", "list"],
  ],
  [
    ["create", "new", "add"],
    ["add", "login"],
  ],
  [
    ["edit", "change", "update", "set"],
    ["update", "set", "config", "text", "use"],
  ],
];

/**
 * The command line that is meant, without the program's name, by a `word` behind the names of a `path`; null for a word
 * of no other tool. `verbs` are those of the path's noun.
 */
export function commandMeant(path: readonly string[], word: string, verbs: readonly string[]): string | null {
  if (path.join(" ") === "imports" && isFileName(word)) return `people import ${word}`;
  if (path.join(" ") === "report" && isFileName(word)) return `report --out ${word}`;
  const whole = OTHER_WORDS.get([...path, word].join(" "));
  if (whole !== undefined) return whole;
  const meant = VERBS.find(([words]) => words.includes(word))?.[1].find((verb) => verbs.includes(verb));
  return meant === undefined ? null : [...path, meant].join(" ");
}

function isFileName(word: string): boolean {
  return word === "-" || /[./\\]/.test(word);
}
