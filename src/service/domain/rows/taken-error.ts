/** A value that must be one's own is another's already; the engine's unique indexes decide, so no two callers can race. */
export class TakenError extends Error {
  override readonly name = "TakenError";
  readonly field: "email" | "phoneNumber" | "name" | "id";

  constructor(field: "email" | "phoneNumber" | "name" | "id", options?: ErrorOptions) {
    super(`${field} has already been taken`, options);
    this.field = field;
  }
}
