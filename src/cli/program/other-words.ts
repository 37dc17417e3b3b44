/** Words of other tools, by all that was typed in a command's place, with the command that does the same here. */
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

/** The command line that is meant, without the program's name; null for words of no other tool. */
export function commandMeant(path: readonly string[], word: string): string | null {
  const typed = [...path, word].join(" ");
  const isFileName = word === "-" || /[./\\]/.test(word);
  if (isFileName && path.join(" ") === "imports") return `people import ${word}`;
  return OTHER_WORDS.get(typed) ?? null;
}
