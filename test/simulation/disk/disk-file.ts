/** One file: the bytes that programs read, and the bytes that are synced. */

interface PendingWrite {
  readonly position: number;
  /** Null truncates the file to `position` bytes. */
  readonly bytes: Uint8Array | null;
}

const SECTOR = 512;

export class DiskFile {
  readonly ino: number;
  mode: number;
  modifiedNs: bigint;
  /** Number of hard links. */
  links = 1;
  readonly #written = new Content();
  readonly #durable = new Content();
  #pending: PendingWrite[] = [];

  constructor(ino: number, mode: number, stamp: bigint) {
    this.ino = ino;
    this.mode = mode;
    this.modifiedNs = stamp;
  }

  get size(): number {
    return this.#written.size;
  }

  read(target: Uint8Array, position: number): number {
    return this.#written.read(target, position);
  }

  write(bytes: Uint8Array, position: number, stamp: bigint): void {
    this.#change({ position, bytes: new Uint8Array(bytes) }, stamp);
  }

  truncate(size: number, stamp: bigint): void {
    this.#change({ position: size, bytes: null }, stamp);
  }

  content(): Buffer {
    return this.#written.copy();
  }

  sync(): void {
    for (const write of this.#pending) this.#durable.apply(write);
    this.#pending = [];
  }

  /** A disk may have kept all, some or none of the unsynced writes, some of them partially. */
  loseUnsynced(fraction: () => number): void {
    const kind = fraction();
    const first = Math.floor(fraction() * (this.#pending.length + 1));
    for (const [at, write] of this.#pending.entries()) {
      const isKept = kind < 0.3 ? false : kind < 0.6 ? at < first : kind < 0.9 ? fraction() < 0.5 : true;
      if (isKept) this.#durable.apply(write);
      else if (kind >= 0.3 && fraction() < 0.2) this.#durable.apply(tear(write, fraction));
    }
    this.#written.replace(this.#durable);
    this.#pending = [];
  }

  #change(write: PendingWrite, stamp: bigint): void {
    this.#pending.push(write);
    this.#written.apply(write);
    this.modifiedNs = stamp;
  }
}

/** The first sectors of a write. Truncation is all or nothing. */
function tear({ position, bytes }: PendingWrite, fraction: () => number): PendingWrite {
  const sectors = Math.floor(fraction() * Math.ceil((bytes?.length ?? 0) / SECTOR));
  return { position, bytes: bytes?.subarray(0, SECTOR * sectors) ?? new Uint8Array() };
}

/** A buffer that grows in place. */
class Content {
  size = 0;
  #bytes: Buffer = Buffer.alloc(0);

  read(target: Uint8Array, position: number): number {
    const length = Math.max(0, Math.min(target.length, this.size - position));
    target.set(this.#bytes.subarray(position, position + length));
    return length;
  }

  copy(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.size));
  }

  apply({ position, bytes }: PendingWrite): void {
    if (bytes === null) {
      if (position < this.size) this.#bytes.fill(0, position, this.size);
      else this.#reserve(position);
      this.size = position;
    } else if (bytes.length > 0) {
      this.#reserve(position + bytes.length);
      this.#bytes.set(bytes, position);
      this.size = Math.max(this.size, position + bytes.length);
    }
  }

  replace(other: Content): void {
    this.#bytes = other.copy();
    this.size = other.size;
  }

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return;
    const grown = Buffer.alloc(Math.max(size, this.#bytes.length * 2, 4096));
    this.#bytes.copy(grown, 0, 0, this.size);
    this.#bytes = grown;
  }
}
