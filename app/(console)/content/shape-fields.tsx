import type { AspectRatio, Resolution } from "@/lib/content/port.ts";
import { ASPECT_RATIOS, RESOLUTIONS } from "@/lib/content/port.ts";
import { Segmented } from "../_ui/segmented.tsx";

const aspects = ASPECT_RATIOS.map((value) => ({ value, label: value === "auto" ? "Auto" : value }));
const resolutions = RESOLUTIONS.map((value) => ({ value, label: value === "4k" ? "4K" : value }));

/** The aspect ratio and the resolution, which images and videos share. */
export function ShapeFields({
  aspectRatio,
  resolution,
  onChange,
}: {
  readonly aspectRatio: AspectRatio;
  readonly resolution: Resolution;
  readonly onChange: (change: { aspect_ratio?: AspectRatio; resolution?: Resolution }) => void;
}) {
  return (
    <div className="flex flex-wrap gap-x-6 gap-y-4">
      <Segmented
        label="Aspect ratio"
        options={aspects}
        value={aspectRatio}
        onChange={(aspect_ratio) => onChange({ aspect_ratio })}
      />
      <Segmented
        label="Resolution"
        options={resolutions}
        value={resolution}
        onChange={(value) => onChange({ resolution: value })}
      />
    </div>
  );
}
