from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class HookAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONTINUE: _ClassVar[HookAction]
    BLOCK: _ClassVar[HookAction]
    RETRY: _ClassVar[HookAction]
    SKIP: _ClassVar[HookAction]
CONTINUE: HookAction
BLOCK: HookAction
RETRY: HookAction
SKIP: HookAction

class RegisterHookRequest(_message.Message):
    __slots__ = ("event_type", "matcher", "config", "hook_id", "vocabulary", "client_id")
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    MATCHER_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    VOCABULARY_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    event_type: str
    matcher: HookMatcher
    config: HookConfig
    hook_id: str
    vocabulary: str
    client_id: str
    def __init__(self, event_type: _Optional[str] = ..., matcher: _Optional[_Union[HookMatcher, _Mapping]] = ..., config: _Optional[_Union[HookConfig, _Mapping]] = ..., hook_id: _Optional[str] = ..., vocabulary: _Optional[str] = ..., client_id: _Optional[str] = ...) -> None: ...

class RegisterHookResponse(_message.Message):
    __slots__ = ("hook_id",)
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    hook_id: str
    def __init__(self, hook_id: _Optional[str] = ...) -> None: ...

class UnregisterHookRequest(_message.Message):
    __slots__ = ("hook_id", "client_id")
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    hook_id: str
    client_id: str
    def __init__(self, hook_id: _Optional[str] = ..., client_id: _Optional[str] = ...) -> None: ...

class UnregisterHookResponse(_message.Message):
    __slots__ = ("removed",)
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    removed: bool
    def __init__(self, removed: bool = ...) -> None: ...

class ListHooksRequest(_message.Message):
    __slots__ = ("client_id",)
    CLIENT_ID_FIELD_NUMBER: _ClassVar[int]
    client_id: str
    def __init__(self, client_id: _Optional[str] = ...) -> None: ...

class ListHooksResponse(_message.Message):
    __slots__ = ("hooks",)
    HOOKS_FIELD_NUMBER: _ClassVar[int]
    hooks: _containers.RepeatedCompositeFieldContainer[RegisteredHook]
    def __init__(self, hooks: _Optional[_Iterable[_Union[RegisteredHook, _Mapping]]] = ...) -> None: ...

class RegisteredHook(_message.Message):
    __slots__ = ("hook_id", "event_type", "matcher", "config", "vocabulary", "own")
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    MATCHER_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    VOCABULARY_FIELD_NUMBER: _ClassVar[int]
    OWN_FIELD_NUMBER: _ClassVar[int]
    hook_id: str
    event_type: str
    matcher: HookMatcher
    config: HookConfig
    vocabulary: str
    own: bool
    def __init__(self, hook_id: _Optional[str] = ..., event_type: _Optional[str] = ..., matcher: _Optional[_Union[HookMatcher, _Mapping]] = ..., config: _Optional[_Union[HookConfig, _Mapping]] = ..., vocabulary: _Optional[str] = ..., own: bool = ...) -> None: ...

class HookMatcher(_message.Message):
    __slots__ = ("tool", "path_pattern", "command_pattern")
    TOOL_FIELD_NUMBER: _ClassVar[int]
    PATH_PATTERN_FIELD_NUMBER: _ClassVar[int]
    COMMAND_PATTERN_FIELD_NUMBER: _ClassVar[int]
    tool: str
    path_pattern: str
    command_pattern: str
    def __init__(self, tool: _Optional[str] = ..., path_pattern: _Optional[str] = ..., command_pattern: _Optional[str] = ...) -> None: ...

class HookConfig(_message.Message):
    __slots__ = ("priority", "timeout_ms", "fail_behavior")
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_MS_FIELD_NUMBER: _ClassVar[int]
    ASYNC_FIELD_NUMBER: _ClassVar[int]
    FAIL_BEHAVIOR_FIELD_NUMBER: _ClassVar[int]
    priority: int
    timeout_ms: int
    fail_behavior: str
    def __init__(self, priority: _Optional[int] = ..., timeout_ms: _Optional[int] = ..., fail_behavior: _Optional[str] = ..., **kwargs) -> None: ...

class HookEvent(_message.Message):
    __slots__ = ("hook_id", "event_type", "session_id", "timestamp", "payload", "call_id", "correlation_id", "deadline_ms", "cancelled", "metadata", "host_result")
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    CORRELATION_ID_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_MS_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    HOST_RESULT_FIELD_NUMBER: _ClassVar[int]
    hook_id: str
    event_type: str
    session_id: str
    timestamp: int
    payload: bytes
    call_id: str
    correlation_id: str
    deadline_ms: int
    cancelled: bool
    metadata: bytes
    host_result: bytes
    def __init__(self, hook_id: _Optional[str] = ..., event_type: _Optional[str] = ..., session_id: _Optional[str] = ..., timestamp: _Optional[int] = ..., payload: _Optional[bytes] = ..., call_id: _Optional[str] = ..., correlation_id: _Optional[str] = ..., deadline_ms: _Optional[int] = ..., cancelled: bool = ..., metadata: _Optional[bytes] = ..., host_result: _Optional[bytes] = ...) -> None: ...

class HookResponse(_message.Message):
    __slots__ = ("hook_id", "action", "reason", "modified", "call_id", "retry_delay_ms", "output", "error", "host_call")
    HOOK_ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MODIFIED_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    RETRY_DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    HOST_CALL_FIELD_NUMBER: _ClassVar[int]
    hook_id: str
    action: HookAction
    reason: str
    modified: bytes
    call_id: str
    retry_delay_ms: int
    output: bytes
    error: str
    host_call: bytes
    def __init__(self, hook_id: _Optional[str] = ..., action: _Optional[_Union[HookAction, str]] = ..., reason: _Optional[str] = ..., modified: _Optional[bytes] = ..., call_id: _Optional[str] = ..., retry_delay_ms: _Optional[int] = ..., output: _Optional[bytes] = ..., error: _Optional[str] = ..., host_call: _Optional[bytes] = ...) -> None: ...
