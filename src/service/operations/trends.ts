import * as v from "valibot";
import { addTrend, findTrend, removeTrend } from "../domain/answers/trends.ts";
import type { Trend } from "../domain/ports.ts";
import { keyValues } from "./define/fields.ts";
import { defineOperation, settle } from "./define/operation.ts";

export const trendOperations = {
  "trend.add": defineOperation({
    access: "write",
    input: { name: v.string(), where: keyValues },
    run: async (tx, project, { name, where }) => toTrendInfo(await addTrend(tx, project, name, where)),
    after: settle,
  }),
  "trend.list": defineOperation({
    access: "read",
    run: async (tx, project) => (await tx.trends.list(project.id)).map(toTrendInfo),
  }),
  "trend.remove": defineOperation({
    access: "write",
    input: { id: v.string() },
    confirm: async (tx, project, { id }) => {
      const { name } = await findTrend(tx, project, id);
      return { question: `Remove trend "${name}"? Its responses stay.`, id, name };
    },
    run: async (tx, project, { id }) => {
      await removeTrend(tx, project, id);
      return { id };
    },
  }),
};

function toTrendInfo({ id, name, where, createdAt }: Trend) {
  return { id: String(id), name, where, created_at: createdAt };
}
