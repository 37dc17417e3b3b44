import { decideRows, type Plan, type RowSource, type RowToSend } from "../../../bulk/import/journal/decide-rows.ts";
import type { ImportTable } from "../../../bulk/import/table/open-table.ts";
import { ClientError } from "../../../client/errors/client-error.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { resolveConnection } from "../../../config/settings.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { countOf, formatCount } from "../../../contract/text/whole-number.ts";
import { writeNote, writeWarning } from "../../kit/notes.ts";
import { type Deps, settingsRequest, withClient } from "../../kit/deps.ts";
import { writeDryRun } from "../../kit/write-outcome.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { pathColumn, type Column } from "../../render/columns.ts";
import { chooseFormat, writeList } from "../../render/list-output.ts";
import type { CheckedFile, ImportRequest } from "../import-request.ts";
import { meaningOf } from "../mapping.ts";
import { describeUntimed, describeWarnings } from "../problems.ts";
import { planRun } from "./plan-run.ts";
import { chooseRows, type DescribedPlan, describePlan } from "./plan.ts";

const SHOWN = 3;

export async function showDryRun(checked: CheckedFile): Promise<ExitCode> {
  const { deps, table, request, report } = checked;
  const baseUrl = await baseUrlOf(deps);
  const chosen = chooseRows(checked);
  const alone = { place: baseUrl, profile: null, source: chosen, preview: async () => null };
  const asked = baseUrl === "" || !request.kind.sendsSurveys ? null : await askService(checked, chosen);
  const { source, plan, lines, changes, unsurveyed } = asked ?? (await describePlan(checked, alone));
  const rows = await firstRows(source);
  if (chooseFormat(deps) === "table") {
    await showMapping(deps, table);
    await showRows(deps, table, rows);
    await deps.streams.out.write(lines.join(""));
    await writeNote(deps, `${countOf(rows.length, "row")} shown, nothing was sent`);
    return EXIT.done;
  }
  for (const row of rows)
    await writeDryRun(deps, baseUrl, request.plan(row, { position: row.position, rows: chosen.rows }));
  for (const warning of [...describeWarnings(table.input.name, report), ...describeUntimed(report)])
    await writeWarning(deps, warning);
  const counts = [describeCounts(request, plan, unsurveyed), ...changes].join("; ");
  await writeNote(deps, `${counts}; ${countOf(rows.length, "request")} shown, nothing was sent`);
  return EXIT.done;
}

async function askService(
  checked: CheckedFile,
  chosen: RowSource & { readonly rows: number },
): Promise<DescribedPlan | null> {
  const { deps } = checked;
  const { connect } = await import("../../kit/connect.ts");
  const asked = { ...deps, connect: () => connect({ ...deps, options: { ...deps.options, retries: 0 } }) };
  try {
    return await withClient(asked, async (_, connection) =>
      describePlan(checked, await planRun(checked, connection, chosen)),
    );
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    await writeNote(deps, `the service was not asked: ${error.what}`);
    return null;
  }
}

async function firstRows(source: RowSource): Promise<RowToSend[]> {
  const rows: RowToSend[] = [];
  for await (const decision of decideRows(source)) {
    if (rows.length === SHOWN) break;
    if (decision.kind === "send") rows.push(decision.row);
  }
  return rows;
}

async function showMapping(deps: Deps, { mapping }: ImportTable): Promise<void> {
  const rows = mapping.columns.map(({ header }, index) => ({ column: header, becomes: meaningOf(mapping, index) }));
  await showTable(deps, [pathColumn("column"), pathColumn("becomes")], rows);
}

async function showRows(deps: Deps, { mapping }: ImportTable, rows: readonly RowToSend[]): Promise<void> {
  const columns = mapping.columns.flatMap(({ target }): Column[] => {
    if (target.kind === "ignored") return [];
    const name = target.kind === "field" ? target.field.name : target.key;
    const isTime = target.kind === "field" && target.field.rule === "time";
    return [{ name, kind: isTime ? "time" : "text", read: (row) => row[name] }];
  });
  await showTable(
    deps,
    columns,
    rows.map(({ values, properties }): JsonObject => ({ ...properties, ...(values as JsonObject) })),
  );
}

async function showTable(deps: Deps, columns: readonly Column[], rows: readonly JsonObject[]): Promise<void> {
  const options = { ...deps.options, output: "table", columns: null } as const;
  await writeList({ ...deps, options }, { resource: { noun: "rows", columns } }, rows);
  await deps.streams.out.write("\n");
}

function describeCounts({ kind }: ImportRequest, plan: Plan, unsurveyed: string): string {
  const { emails, texts, quiet } = plan;
  const reasons = unsurveyed === "" ? "" : ` (${unsurveyed})`;
  const parts = kind.sendsSurveys
    ? [countOf(emails, "email"), countOf(texts, "text message"), `${formatCount(quiet)} with no survey${reasons}`]
    : [countOf(emails + texts + quiet, "request")];
  return `${countOf(plan.rows, "row")}: ${[...parts, `${formatCount(plan.skipped)} skipped`].join(", ")}`;
}

/** Empty without a connection, and for the embedded service. */
async function baseUrlOf(deps: Deps): Promise<string> {
  try {
    const settings = await resolveConnection(settingsRequest(deps));
    return settings.kind === "local" ? "" : settings.baseUrl.value;
  } catch (error) {
    if (error instanceof ConfigError && error.problem === "missing") return "";
    throw error;
  }
}
