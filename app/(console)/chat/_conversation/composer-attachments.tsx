"use client";
import { useView } from "../../_hooks/use-view.ts";
import { lazyComponent } from "../../_load/lazy-component.tsx";
import type { Attachments } from "../_state/attachments.ts";

const AttachmentList = lazyComponent(() => import("./attachment-list.tsx"), "AttachmentList");

/** The files of the message that is being written, with their progress. */
export function ComposerAttachments({ attachments }: { readonly attachments: Attachments }) {
  const { files, notice } = useView(attachments);
  const uploading = files.filter(({ state }) => state.kind === "uploading").length;
  const failed = files.filter(({ state }) => state.kind === "failed").length;
  return (
    <>
      <p role="status" className="sr-only">
        {failed > 0 && `${countFiles(failed)} could not be attached`}
        {failed === 0 && uploading > 0 && `Uploading ${countFiles(uploading)}`}
        {failed + uploading === 0 && files.length > 0 && `${countFiles(files.length)} attached`}
      </p>
      {notice !== null && (
        <p role="alert" className="px-4 pt-3 text-sm text-danger-text">
          {notice}
        </p>
      )}
      {files.length > 0 && <AttachmentList attachments={attachments} files={files} />}
    </>
  );
}

const countFiles = (count: number): string => (count === 1 ? "1 file" : `${count} files`);
