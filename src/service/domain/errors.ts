/** The refusals of the rules, by kind of reaction; the HTTP layer maps kinds to statuses in one table. */
import { quoteText } from "../../contract/text/invisible.ts";
import { type TextForm, textFault } from "../../contract/text/storable.ts";

export abstract class DomainError extends Error {}

/** Values that break a rule: attribute name to short phrases such as `is invalid` (422). */
export class InvalidError extends DomainError {
  override readonly name = "InvalidError";
  readonly errors: Readonly<Record<string, readonly string[]>>;

  /** `sentence` is the message for people, where one says it better than the attribute and its phrase. */
  constructor(errors: Readonly<Record<string, readonly string[]>>, sentence?: string) {
    super(
      sentence ??
        Object.entries(errors)
          .flatMap(([attribute, phrases]) => phrases.map((phrase) => `${attribute} ${phrase}`))
          .join("; "),
    );
    this.errors = errors;
  }
}

/** Throws InvalidError; see `textFault`. */
export function checkText(attribute: string, text: string, form?: TextForm): void {
  const fault = textFault(text, form);
  if (fault !== null) throw new InvalidError({ [attribute]: [fault] });
}

/** `a key named "ci" already exists`: `thing` says what has that name or id already. */
export function alreadyExists(thing: string, attribute: "name" | "id", value: string): InvalidError {
  return new InvalidError({ [attribute]: ["has already been taken"] }, `${thing} ${quoteText(value)} already exists`);
}

/** The thing that a path names, or an Autopilot member to remove, is not there (404). */
export class NotFoundError extends DomainError {
  override readonly name = "NotFoundError";
}

/** A message that was sent to try it was not accepted. */
export class NotTakenError extends DomainError {
  override readonly name = "NotTakenError";
}

/** The data cannot be reached or saved at present (503); nothing of what was asked has been done. */
export class UnavailableError extends Error {
  override readonly name: string = "UnavailableError";
}

/**
 * A value that must be one's own is another's already; the engine's unique indexes decide, so no two callers can race.
 */
export class TakenError extends Error {
  override readonly name = "TakenError";
  readonly field: "email" | "phoneNumber" | "name" | "id";

  constructor(field: "email" | "phoneNumber" | "name" | "id", options?: ErrorOptions) {
    super(`${field} has already been taken`, options);
    this.field = field;
  }
}
