"""Every attribute and span name of the wire, spelled once (docs/wire.md, wire 1).

Names under `gen_ai.`, `error.` and `deployment.` are OpenTelemetry's; the two under
`gen_ai.context.` are Sentry's, the only shared names for window and fill; names under
`ullage.` are ours. No values, no logic.
"""

from typing import Final

WIRE_VERSION: Final = 1
SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.41.0"

# --- span names (a model or agent name is appended where the convention says so) ---
SPAN_INVOKE_AGENT: Final = "invoke_agent"
SPAN_CHAT: Final = "chat"
SPAN_EXECUTE_TOOL: Final = "execute_tool"
SPAN_CALL: Final = "ullage.call"
SPAN_PRUNE: Final = "ullage.prune"
SPAN_CALIBRATE: Final = "ullage.calibrate"
SPAN_TRUNCATE: Final = "ullage.truncate"

# --- on every span of ours ---
WIRE: Final = "ullage.wire"
RUN_ID: Final = "ullage.run.id"
CALL_INDEX: Final = "ullage.call.index"

# --- OpenTelemetry GenAI ---
OPERATION_NAME: Final = "gen_ai.operation.name"
PROVIDER_NAME: Final = "gen_ai.provider.name"
AGENT_NAME: Final = "gen_ai.agent.name"
CONVERSATION_ID: Final = "gen_ai.conversation.id"
CONVERSATION_COMPACTED: Final = "gen_ai.conversation.compacted"
ENVIRONMENT: Final = "deployment.environment.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
REQUEST_MAX_TOKENS: Final = "gen_ai.request.max_tokens"
RESPONSE_ID: Final = "gen_ai.response.id"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
USAGE_INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
USAGE_OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
USAGE_CACHE_READ_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
USAGE_CACHE_WRITE_TOKENS: Final = "gen_ai.usage.cache_write.input_tokens"
USAGE_REASONING_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
ERROR_TYPE: Final = "error.type"
WINDOW_TOKENS: Final = "gen_ai.context.window_size"
FILL: Final = "gen_ai.context.utilization"

# --- run ---
RUN_REASON: Final = "ullage.run.reason"
RUN_CALLS: Final = "ullage.run.calls"
RUN_PRUNES: Final = "ullage.run.prunes"

# --- call ---
CALL_SITE: Final = "ullage.call.site"
WINDOW_SOURCE: Final = "ullage.window.source"
BUDGET_TOKENS: Final = "ullage.budget.tokens"
RESERVE_TOKENS: Final = "ullage.reserve.tokens"
SAFETY_TOKENS: Final = "ullage.safety.tokens"
FREE_TOKENS: Final = "ullage.free.tokens"
ESTIMATE_TOKENS: Final = "ullage.estimate.tokens"
ESTIMATE_LOWER_TOKENS: Final = "ullage.estimate.lower_tokens"
ESTIMATE_ACCURACY: Final = "ullage.estimate.accuracy"
BREAKDOWN_SYSTEM_TOKENS: Final = "ullage.breakdown.system_tokens"
BREAKDOWN_TOOLS_TOKENS: Final = "ullage.breakdown.tools_tokens"
BREAKDOWN_CONVERSATION_TOKENS: Final = "ullage.breakdown.conversation_tokens"
BREAKDOWN_MEDIA_TOKENS: Final = "ullage.breakdown.media_tokens"
BREAKDOWN_FRAMING_TOKENS: Final = "ullage.breakdown.framing_tokens"
CALIBRATION_TABLE: Final = "ullage.calibration.table"
CALIBRATION_FACTOR: Final = "ullage.calibration.factor"
CALIBRATION_ANCHOR_TOKENS: Final = "ullage.calibration.anchor_tokens"
POLICY: Final = "ullage.policy"
DROPPED_UNITS: Final = "ullage.dropped.units"
DROPPED_TOKENS: Final = "ullage.dropped.tokens"
VIEW_DIGEST: Final = "ullage.view.digest"
VIEW_LENGTH: Final = "ullage.view.length"
VIEW_BASE: Final = "ullage.view.base"
VIEW_ADDED: Final = "ullage.view.added"
MESSAGES_SHAPES: Final = "ullage.messages.shapes"
MESSAGES_BODIES: Final = "ullage.messages.bodies"
REPLY_DIGEST: Final = "ullage.reply.digest"
TOOLS_DIGEST: Final = "ullage.tools.digest"
TOOLS_SHAPES: Final = "ullage.tools.shapes"
TOOLS_BODY: Final = "ullage.tools.body"

# --- prune ---
PLAN_OUTCOME: Final = "ullage.plan.outcome"
PLAN_BEFORE_TOKENS: Final = "ullage.plan.before_tokens"
PLAN_AFTER_TOKENS: Final = "ullage.plan.after_tokens"
PLAN_TARGET_TOKENS: Final = "ullage.plan.target_tokens"
PLAN_KEPT_UNITS: Final = "ullage.plan.kept_units"
PLAN_ACTIONS: Final = "ullage.plan.actions"

# --- calibrate ---
CALIBRATE_OUTCOME: Final = "ullage.calibrate.outcome"
CALIBRATE_ESTIMATE_TOKENS: Final = "ullage.calibrate.estimate_tokens"
CALIBRATE_ACTUAL_TOKENS: Final = "ullage.calibrate.actual_tokens"
CALIBRATE_DRIFT_RATIO: Final = "ullage.calibrate.drift_ratio"
CALIBRATE_FACTOR_BEFORE: Final = "ullage.calibrate.factor_before"
CALIBRATE_FACTOR_AFTER: Final = "ullage.calibrate.factor_after"
CALIBRATE_ANCHOR_BEFORE_TOKENS: Final = "ullage.calibrate.anchor_before_tokens"
CALIBRATE_ANCHOR_AFTER_TOKENS: Final = "ullage.calibrate.anchor_after_tokens"

# --- truncate ---
TRUNCATE_NEEDED_TOKENS: Final = "ullage.truncate.needed_tokens"
TRUNCATE_SHORTFALL_TOKENS: Final = "ullage.truncate.shortfall_tokens"
TRUNCATE_COMPONENT: Final = "ullage.truncate.component"
TRUNCATE_HINT: Final = "ullage.truncate.hint"
TRUNCATE_UNDROPPABLE_UNITS: Final = "ullage.truncate.undroppable_units"

# --- recorded demo runs (resource attribute, set by the inspector's loader) ---
DEMO: Final = "ullage.demo"

# --- content of other GenAI instrumentations (read, never written) ---
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
SYSTEM_INSTRUCTIONS: Final = "gen_ai.system_instructions"
TOOL_DEFINITIONS: Final = "gen_ai.tool.definitions"
