import type { Confirmation } from "../domain/errors.ts";
import type { Access, Operation, OperationTools, Scope } from "./define/operation.ts";
import { describeOutput, OUTPUTS } from "./define/outputs.ts";
import { bounceOperations } from "./bounces.ts";
import { configurationOperations } from "./configuration.ts";
import { deliveryOperations } from "./delivery.ts";
import { digestOperations } from "./digests.ts";
import { logOperations } from "./log.ts";
import { pageOperations } from "./pages.ts";
import { privacyOperations } from "./privacy.ts";
import { projectOperations } from "./projects.ts";
import { questionOperations } from "./questions.ts";
import { settingsOperations } from "./settings.ts";
import { shareOperations } from "./shares.ts";
import { trendOperations } from "./trends.ts";
import { webhookOperations } from "./webhooks.ts";

const OPERATIONS = {
  ...projectOperations,
  ...settingsOperations,
  ...configurationOperations,
  ...pageOperations,
  ...shareOperations,
  ...trendOperations,
  ...questionOperations,
  ...digestOperations,
  ...webhookOperations,
  ...bounceOperations,
  ...deliveryOperations,
  ...privacyOperations,
  ...logOperations,
};

type Operations = typeof OPERATIONS;
export type OperationName = keyof Operations;

export type InputOf<Name extends OperationName> =
  Operations[Name] extends Operation<infer _Scope, infer Input, infer _Result> ? Input : never;
export type ResultOf<Name extends OperationName> =
  Operations[Name] extends Operation<infer _Scope, infer _Input, infer Result> ? Result : never;
export type ScopeOf<Name extends OperationName> =
  Operations[Name] extends Operation<infer Of, infer _Input, infer _Result> ? Of : never;
type ProjectField<Name extends OperationName> =
  ScopeOf<Name> extends "server" ? object : { readonly project?: string | null };

export function requiredAccess(call: { readonly kind: OperationName }): Access {
  const { operation, input } = resolve(call);
  return operation.access(input);
}

/** Without a project, an operation applies to `default` or, depending on its scope, to all. Throws DomainError. */
export type Admin = <Name extends OperationName>(
  call: { readonly kind: Name } & ProjectField<Name> & InputOf<Name> & { readonly confirm?: true | Confirmation },
) => Promise<ResultOf<Name>>;

export function createAdmin(tools: OperationTools): Admin {
  return async <Name extends OperationName>(call: { readonly kind: Name }) => {
    const { operation, project, input } = resolve(call);
    return (await operation.call(tools, { name: call.kind, project }, input)) as ResultOf<Name>;
  };
}

const DEFAULT_PROJECT = "default";

function resolve(call: { readonly kind: OperationName }) {
  const { kind, project = null, ...input } = call as { kind: OperationName; project?: string | null };
  const operation: Operation<Scope, object, unknown> = OPERATIONS[kind];
  return { operation, project: operation.scope === "project" ? (project ?? DEFAULT_PROJECT) : project, input };
}

type ServedName = { [Name in OperationName]: ScopeOf<Name> extends "server" ? never : Name }[OperationName];
/** HTTP serves the operations that apply to one project. */
const SERVED = Object.keys(OUTPUTS satisfies Readonly<Record<ServedName, object>>) as readonly ServedName[];

export function isServed(name: string): name is ServedName {
  return SERVED.some((served) => served === name);
}

export function describeOperations() {
  return SERVED.map((name) => {
    const { mostAccess: access, describeInput } = OPERATIONS[name];
    return { name, scope: "project", access, input: describeInput(), output: describeOutput(name) };
  });
}

/** Returns null if HTTP doesn't serve the operation. Throws DomainError. */
export function callServed(
  tools: OperationTools,
  call: { readonly name: string; readonly project: string },
  input: object,
): Promise<unknown> | null {
  if (!isServed(call.name)) return null;
  const operation: Operation<Scope, object, unknown> = OPERATIONS[call.name];
  return operation.call(tools, call, input);
}
