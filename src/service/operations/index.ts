import type { Access, Operation, OperationTools, Scope } from "./operation.ts";
import { bounceOperations } from "./bounces.ts";
import { configurationOperations } from "./configuration.ts";
import { deliveryOperations } from "./delivery.ts";
import { digestOperations } from "./digests.ts";
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
};

type Operations = typeof OPERATIONS;
export type OperationName = keyof Operations;

export type InputOf<Name extends OperationName> =
  Operations[Name] extends Operation<infer _Scope, infer Input, infer _Result> ? Input : never;
export type ResultOf<Name extends OperationName> =
  Operations[Name] extends Operation<infer _Scope, infer _Input, infer Result> ? Result : never;
export type ScopeOf<Name extends OperationName> =
  Operations[Name] extends Operation<infer Of, infer _Input, infer _Result> ? Of : never;
type ProjectField<Name extends OperationName> = {
  readonly project: { readonly project: string };
  readonly any: { readonly project: string | null };
  readonly server: object;
}[ScopeOf<Name>];

export function requiredAccess(call: { readonly kind: OperationName }): Access {
  const { operation, input } = resolve(call);
  return operation.access(input);
}

/** Runs an operation on an open store. Throws DomainError. */
export type Admin = <Name extends OperationName>(
  call: { readonly kind: Name } & ProjectField<Name> & InputOf<Name>,
) => Promise<ResultOf<Name>>;

export function createAdmin(tools: OperationTools): Admin {
  return async <Name extends OperationName>(call: { readonly kind: Name }) => {
    const { operation, project, input } = resolve(call);
    return (await operation.call(tools, project, input)) as ResultOf<Name>;
  };
}

function resolve(call: { readonly kind: OperationName }) {
  const { kind, project = null, ...input } = call as { kind: OperationName; project?: string | null };
  const operation: Operation<Scope, object, unknown> = OPERATIONS[kind];
  return { operation, project, input };
}
