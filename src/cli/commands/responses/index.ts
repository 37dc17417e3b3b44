import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { registerResponsesAdd } from "./add.ts";
import { registerResponsesAnswers } from "./answers.ts";
import { registerResponsesNote, registerResponsesTag } from "./change.ts";
import { registerResponsesDelete } from "./delete.ts";
import { registerResponsesExport } from "./export.ts";
import { registerResponsesGet } from "./get.ts";
import { registerResponsesImport } from "./import.ts";
import { registerResponsesList } from "./list.ts";
import { registerResponsesShow } from "./show.ts";
import { registerResponsesTail } from "./tail/index.ts";
import { registerResponsesUpdate } from "./update.ts";
import { registerResponsesWords } from "./words.ts";

export function register(noun: Command, context: CommandContext): void {
  registerResponsesList(noun, context);
  registerResponsesGet(noun, context);
  registerResponsesShow(noun, context);
  registerResponsesTail(noun, context);
  registerResponsesAdd(noun, context);
  registerResponsesUpdate(noun, context);
  registerResponsesDelete(noun, context);
  registerResponsesTag(noun, context);
  registerResponsesNote(noun, context);
  registerResponsesWords(noun, context);
  registerResponsesAnswers(noun, context);
  registerResponsesImport(noun, context);
  registerResponsesExport(noun, context);
}
