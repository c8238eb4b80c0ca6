import type { Attachment } from "./port.ts";

/** Returns an attachment as the driver takes it. */
export const bufferOf = ({ filename, content }: Attachment) => ({
  filename,
  content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
});
