import { type ComponentProps, useRef } from "react";
import { Button } from "./button.tsx";

type UploadButtonProps = Omit<ComponentProps<typeof Button>, "onClick"> & {
  /** The types of files, as an `input` takes them. */
  readonly accept?: string;
  readonly multiple?: boolean;
  readonly onFiles: (files: readonly File[]) => void;
};

/** A button that lets a person choose files, the same ones again as well. */
export function UploadButton({ accept, multiple = false, onFiles, ...rest }: UploadButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button {...rest} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        hidden
        {...{ accept, multiple }}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          target.value = "";
        }}
      />
    </>
  );
}
