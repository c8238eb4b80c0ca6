"use client";
import { Plus } from "lucide-react";
import { useRouter, useSearchParams } from "next/navigation";
import { useState } from "react";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { Button } from "../_ui/button.tsx";
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../_ui/tabs.tsx";
import { AgentRuns } from "./agent-runs.tsx";
import { TaskRuns } from "./task-runs.tsx";
import { Waiting } from "./waiting.tsx";

const StartRunDialog = lazyComponent(() => import("./start-run-dialog.tsx"), "StartRunDialog");
const TaskRunPanel = lazyComponent(() => import("./task-run-panel.tsx"), "TaskRunPanel");

/** The page of runs. The tab, the filters and the open task run are in the address, to be linked to. */
export function RunsPage() {
  const query = useSearchParams();
  const router = useRouter();
  const [isStarting, setIsStarting] = useState(false);
  const taskRunId = query.get("runId");
  const asked = query.get("tab");
  const tab = asked === "tasks" || taskRunId !== null ? "tasks" : (asked ?? "agent");
  const show = (next: Readonly<Record<string, string>>) => {
    const text = new URLSearchParams(next).toString();
    // `pushState` avoids a request, because the page stays the same.
    history.pushState(null, "", text === "" ? "/runs" : `/runs?${text}`);
  };
  return (
    <Page>
      <PageHeader
        title="Runs"
        description="Everything the agent works on: chats, background runs and schedules, as it happens."
      >
        <Button icon={Plus} onClick={() => setIsStarting(true)}>
          Start agent run
        </Button>
      </PageHeader>
      <Tabs value={tab} onValueChange={(next) => show(next === "agent" ? {} : { tab: next })}>
        <TabsList aria-label="Run type">
          <TabsTrigger value="agent">Runs</TabsTrigger>
          <TabsTrigger value="tasks">Background tasks</TabsTrigger>
          <TabsTrigger value="waiting">Waiting</TabsTrigger>
        </TabsList>
        <TabsContent value="agent">
          <AgentRuns onStart={() => setIsStarting(true)} />
        </TabsContent>
        <TabsContent value="tasks">
          <TaskRuns onOpen={(id) => show({ tab: "tasks", runId: id })} />
        </TabsContent>
        <TabsContent value="waiting">
          <Waiting />
        </TabsContent>
      </Tabs>
      {taskRunId !== null && (
        <TaskRunPanel key={taskRunId} runId={taskRunId} onClose={() => show({ tab: "tasks" })} />
      )}
      {isStarting && (
        <StartRunDialog
          onClose={() => setIsStarting(false)}
          onStarted={(runId) => router.push(`/runs/${runId}`)}
        />
      )}
    </Page>
  );
}
