import { LOCALES } from "../../../../contract/locales.ts";
import { OUTPUTS } from "../../../../service/operations/define/outputs.ts";
import { parseEmail } from "../../../args/people.ts";
import { defineGroup } from "../../../kit/command-node.ts";
import { showRecord } from "../data/data-file.ts";
import { PREVIEW_FLAGS, showPreview } from "../preview.ts";
import { serviceCommand } from "../service-command.ts";
import { toResource } from "../../../render/columns.ts";

const PREVIEW = toResource("surveys", OUTPUTS["survey.preview"]);

export const survey = defineGroup({
  name: "survey",
  summary: "surveys as people receive them",
  commands: [
    serviceCommand({
      operation: "survey.preview",
      summary: "print the survey's e-mail as it would be sent; nothing is sent",
      examples: [
        "surveyctl service survey preview --locale de --text --data survey.db",
        "surveyctl service survey preview ada@example.com --html --out survey.html",
        "surveyctl service survey preview --locale ja --out survey.eml --project acme",
      ],
      args: { email: { form: "[email]", text: "whose survey; omit for a sample", parse: parseEmail } },
      flags: {
        locale: { value: "locale", text: "survey language", choices: LOCALES, otherwise: "the survey's own" },
        ...PREVIEW_FLAGS,
      },
      columns: PREVIEW,
      input: ({ email, locale }) => ({ email, locale }),
      show: async (deps, preview, choice) => {
        const { message: _, ...record } = preview;
        const isRecord = deps.options.output !== null && !choice.html && !choice.text && choice.out === null;
        return isRecord ? showRecord(deps, PREVIEW, record) : showPreview(deps, preview, choice);
      },
    }),
  ],
});
