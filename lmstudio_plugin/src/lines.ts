/** Whole lines out of a stream of bytes. */

/** Bytes of the longest line, as in the protocol. */
const LIMIT = 32 * 1024 * 1024;

export class Lines {
  private chunks: Buffer[] = [];
  private size = 0;

  /**
   * Take in bytes and give out the lines that they complete.
   *
   * @throws RangeError - A line is too long.
   */
  *take(bytes: Buffer): Generator<string> {
    let begin = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, begin)) {
      this.keep(bytes.subarray(begin, end));
      begin = end + 1;
      const line = Buffer.concat(this.chunks).toString("utf-8");
      this.chunks = [];
      this.size = 0;
      yield line;
    }
    this.keep(bytes.subarray(begin));
  }

  private keep(bytes: Buffer): void {
    this.size += bytes.length;
    if (this.size > LIMIT) throw new RangeError("a line is too long");
    if (bytes.length > 0) this.chunks.push(bytes);
  }
}
