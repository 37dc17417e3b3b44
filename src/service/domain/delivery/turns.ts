/** Distributes claims fairly: if there is room for fewer messages than there are projects, they take turns. */
import type { OutgoingChannel } from "./queue-rows.ts";

interface Share {
  readonly project: number;
  readonly limit: number;
}

export class Turns {
  readonly #lasts: Partial<Record<OutgoingChannel, number>> = {};

  /** Room that a project doesn't use is distributed by the next call. */
  share(channel: OutgoingChannel, due: readonly number[], room: number): readonly Share[] {
    const last = this.#lasts[channel] ?? 0;
    const inTurn = [...due.filter((id) => id > last), ...due.filter((id) => id <= last)];
    const projects = inTurn.slice(0, Math.max(room, 0));
    let left = room;
    const shares = projects.map((project, index) => {
      const limit = Math.ceil(left / (projects.length - index));
      left -= limit;
      return { project, limit };
    });
    this.#lasts[channel] = projects.at(-1) ?? last;
    return shares;
  }
}
