import * as v from "valibot";
import { addTrend, removeTrend } from "../domain/answers/trends.ts";
import { NotFoundError } from "../domain/errors.ts";
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
      const found = (await tx.trends.list(project.id)).find((one) => String(one.id) === id);
      return found === undefined
        ? null
        : { question: `Remove trend "${found.name}"? Its responses stay.`, id, name: found.name };
    },
    run: async (tx, project, { id }) => {
      if (!(await removeTrend(tx, project, id))) throw new NotFoundError(`project ${project.name} has no trend ${id}`);
      return { id };
    },
  }),
};

function toTrendInfo({ id, name, where, createdAt }: Trend) {
  return { id: String(id), name, where, created_at: createdAt };
}
