import { isJsonObject, type Json, type JsonObject } from "../../../../contract/json.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { changedColumns, changeResponses } from "./change.ts";

const COLUMNS = changedColumns("notes");

export const note = defineCommand({
  name: "note",
  summary: "add a note to a response",
  examples: [`surveyctl responses note 42 'Called back, resolved'`, `surveyctl responses note 42 'Refunded' --dry-run`],
  args: {
    id: { form: "<id>", text: "the response's id" },
    text: { form: "<text>", text: "the note" },
  },
  columns: COLUMNS,
  run(deps, { id, text }) {
    if (text.trim() === "") throw new UsageError("responses note: the text is empty");
    return changeResponses(deps, [id], COLUMNS, {
      plan: () => ({ notes: text }),
      // Repeating the request would add a second note.
      isRepeatable: false,
      isTaken: (row, _body, before) => countNotes(row, text) > countNotes(before, text),
      show: (row) => ({ notes: notesOf(row) }),
    });
  },
});

function notesOf({ notes }: JsonObject): Json[] {
  return Array.isArray(notes) ? [...notes] : [];
}

function countNotes(row: JsonObject, text: string): number {
  return notesOf(row).filter((one) => (isJsonObject(one) ? one["text"] : one) === text).length;
}
