import { type ComponentProps, type DragEvent, type ReactNode, useState } from "react";
import { Upload } from "../../_ui/icons.tsx";

type FileDropProps = Omit<ComponentProps<"div">, "onDrop"> & {
  readonly onFiles: (files: readonly File[]) => void;
  readonly text?: string;
  readonly hint?: string;
  readonly children: ReactNode;
};

/** An area that takes dropped files, and says so while files are dragged over it. */
export function FileDrop({
  onFiles,
  text = "Drop files to attach them",
  hint = "Statements, sheets, artwork or audio, up to 100 MB each",
  children,
  ...rest
}: FileDropProps) {
  const [isOver, setOver] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files are also attached by a button
    <div
      {...rest}
      onDragEnter={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragOver={(event) => hasFiles(event) && event.preventDefault()}
      onDragLeave={({ currentTarget, relatedTarget }) => {
        // Moving onto a child element does not count as leaving.
        const isInside = relatedTarget instanceof Node && currentTarget.contains(relatedTarget);
        if (!isInside) setOver(false);
      }}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      {children}
      {isOver && (
        <div className="pointer-events-none absolute inset-2 z-20 grid place-items-center rounded-2xl border-2 border-dashed border-accent-text bg-background/85">
          <div className="flex flex-col items-center gap-2 text-center">
            <span className="grid size-12 place-items-center rounded-2xl bg-accent-soft text-accent-text">
              <Upload aria-hidden className="size-6" />
            </span>
            <p className="text-lg font-semibold">{text}</p>
            <p className="text-sm text-muted-foreground">{hint}</p>
          </div>
        </div>
      )}
    </div>
  );
}

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer.types.includes("Files");
