/** The program's own help, without the parser that every other command line needs. */
import { layOutRootHelp } from "./help-layout.ts";
import { NOUNS } from "./nouns.ts";

export function rootHelp(): string {
  return layOutRootHelp(NOUNS);
}
