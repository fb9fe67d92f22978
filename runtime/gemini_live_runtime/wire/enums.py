"""Enums of the protocol; a field typed `Enum | str` keeps unknown values."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """Author of a content."""

    USER = "user"
    MODEL = "model"


class Modality(StrEnum):
    """Kind of media, in response modalities and in token counts."""

    TEXT = "TEXT"
    AUDIO = "AUDIO"
    IMAGE = "IMAGE"
    VIDEO = "VIDEO"
    DOCUMENT = "DOCUMENT"


class MediaResolution(StrEnum):
    """Resolution at which the model sees images and video."""

    LOW = "MEDIA_RESOLUTION_LOW"
    MEDIUM = "MEDIA_RESOLUTION_MEDIUM"
    HIGH = "MEDIA_RESOLUTION_HIGH"
    ULTRA_HIGH = "MEDIA_RESOLUTION_ULTRA_HIGH"


class ThinkingLevel(StrEnum):
    """Amount of thinking before a model speaks."""

    MINIMAL = "MINIMAL"
    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"
    XHIGH = "XHIGH"


class Behavior(StrEnum):
    """Behaviour of the model while a function runs: wait, or go on."""

    BLOCKING = "BLOCKING"
    NON_BLOCKING = "NON_BLOCKING"


class Scheduling(StrEnum):
    """Effect of a non-blocking function's result when it arrives."""

    INTERRUPT = "INTERRUPT"
    WHEN_IDLE = "WHEN_IDLE"
    SILENT = "SILENT"


class SchemaType(StrEnum):
    """Type of a value in a proto-style `Schema`."""

    STRING = "STRING"
    NUMBER = "NUMBER"
    INTEGER = "INTEGER"
    BOOLEAN = "BOOLEAN"
    ARRAY = "ARRAY"
    OBJECT = "OBJECT"
    NULL = "NULL"


class ActivityHandling(StrEnum):
    """Effect of the start of speech on the model."""

    START_OF_ACTIVITY_INTERRUPTS = "START_OF_ACTIVITY_INTERRUPTS"
    NO_INTERRUPTION = "NO_INTERRUPTION"


class TurnCoverage(StrEnum):
    """Input that belongs to a user turn."""

    ONLY_ACTIVITY = "TURN_INCLUDES_ONLY_ACTIVITY"
    ALL_INPUT = "TURN_INCLUDES_ALL_INPUT"
    AUDIO_ACTIVITY_AND_ALL_VIDEO = "TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO"


class StartSensitivity(StrEnum):
    """Sensitivity of the detection of speech starts."""

    HIGH = "START_SENSITIVITY_HIGH"
    LOW = "START_SENSITIVITY_LOW"


class EndSensitivity(StrEnum):
    """Sensitivity of the detection of speech ends."""

    HIGH = "END_SENSITIVITY_HIGH"
    LOW = "END_SENSITIVITY_LOW"


class TranscriptionMode(StrEnum):
    """Literalness of a transcription."""

    VERBATIM = "VERBATIM"
    SMART = "SMART"


class HarmCategory(StrEnum):
    """Category of a safety setting."""

    HARASSMENT = "HARM_CATEGORY_HARASSMENT"
    HATE_SPEECH = "HARM_CATEGORY_HATE_SPEECH"
    SEXUALLY_EXPLICIT = "HARM_CATEGORY_SEXUALLY_EXPLICIT"
    DANGEROUS_CONTENT = "HARM_CATEGORY_DANGEROUS_CONTENT"
    CIVIC_INTEGRITY = "HARM_CATEGORY_CIVIC_INTEGRITY"
    JAILBREAK = "HARM_CATEGORY_JAILBREAK"
    IMAGE_HATE = "HARM_CATEGORY_IMAGE_HATE"
    IMAGE_DANGEROUS_CONTENT = "HARM_CATEGORY_IMAGE_DANGEROUS_CONTENT"
    IMAGE_HARASSMENT = "HARM_CATEGORY_IMAGE_HARASSMENT"
    IMAGE_SEXUALLY_EXPLICIT = "HARM_CATEGORY_IMAGE_SEXUALLY_EXPLICIT"


class HarmBlockMethod(StrEnum):
    """Quantity that a safety threshold limits."""

    SEVERITY = "SEVERITY"
    PROBABILITY = "PROBABILITY"


class HarmBlockThreshold(StrEnum):
    """Level from which content is blocked."""

    BLOCK_LOW_AND_ABOVE = "BLOCK_LOW_AND_ABOVE"
    BLOCK_MEDIUM_AND_ABOVE = "BLOCK_MEDIUM_AND_ABOVE"
    BLOCK_ONLY_HIGH = "BLOCK_ONLY_HIGH"
    BLOCK_NONE = "BLOCK_NONE"
    OFF = "OFF"


class TurnCompleteReason(StrEnum):
    """Cause of an unusual end of a turn."""

    MALFORMED_FUNCTION_CALL = "MALFORMED_FUNCTION_CALL"
    RESPONSE_REJECTED = "RESPONSE_REJECTED"
    NEED_MORE_INPUT = "NEED_MORE_INPUT"
    PROHIBITED_INPUT_CONTENT = "PROHIBITED_INPUT_CONTENT"
    IMAGE_PROHIBITED_INPUT_CONTENT = "IMAGE_PROHIBITED_INPUT_CONTENT"
    INPUT_TEXT_CONTAIN_PROMINENT_PERSON_PROHIBITED = "INPUT_TEXT_CONTAIN_PROMINENT_PERSON_PROHIBITED"
    INPUT_IMAGE_CELEBRITY = "INPUT_IMAGE_CELEBRITY"
    INPUT_IMAGE_PHOTO_REALISTIC_CHILD_PROHIBITED = "INPUT_IMAGE_PHOTO_REALISTIC_CHILD_PROHIBITED"
    INPUT_TEXT_NCII_PROHIBITED = "INPUT_TEXT_NCII_PROHIBITED"
    INPUT_OTHER = "INPUT_OTHER"
    INPUT_IP_PROHIBITED = "INPUT_IP_PROHIBITED"
    BLOCKLIST = "BLOCKLIST"
    UNSAFE_PROMPT_FOR_IMAGE_GENERATION = "UNSAFE_PROMPT_FOR_IMAGE_GENERATION"
    GENERATED_IMAGE_SAFETY = "GENERATED_IMAGE_SAFETY"
    GENERATED_CONTENT_SAFETY = "GENERATED_CONTENT_SAFETY"
    GENERATED_AUDIO_SAFETY = "GENERATED_AUDIO_SAFETY"
    GENERATED_VIDEO_SAFETY = "GENERATED_VIDEO_SAFETY"
    GENERATED_CONTENT_PROHIBITED = "GENERATED_CONTENT_PROHIBITED"
    GENERATED_CONTENT_BLOCKLIST = "GENERATED_CONTENT_BLOCKLIST"
    GENERATED_IMAGE_PROHIBITED = "GENERATED_IMAGE_PROHIBITED"
    GENERATED_IMAGE_CELEBRITY = "GENERATED_IMAGE_CELEBRITY"
    GENERATED_IMAGE_PROMINENT_PEOPLE_DETECTED_BY_REWRITER = "GENERATED_IMAGE_PROMINENT_PEOPLE_DETECTED_BY_REWRITER"
    GENERATED_IMAGE_IDENTIFIABLE_PEOPLE = "GENERATED_IMAGE_IDENTIFIABLE_PEOPLE"
    GENERATED_IMAGE_MINORS = "GENERATED_IMAGE_MINORS"
    OUTPUT_IMAGE_IP_PROHIBITED = "OUTPUT_IMAGE_IP_PROHIBITED"
    GENERATED_OTHER = "GENERATED_OTHER"
    MAX_REGENERATION_REACHED = "MAX_REGENERATION_REACHED"


class InteractionStatus(StrEnum):
    """State of a request over several turns. `REQUIRES_ACTION` is deprecated."""

    IN_PROGRESS = "IN_PROGRESS"
    IDLE = "IDLE"
    REQUIRES_ACTION = "REQUIRES_ACTION"


class VoiceActivityType(StrEnum):
    """Start or end of the user's speech, by the server's detector."""

    ACTIVITY_START = "ACTIVITY_START"
    ACTIVITY_END = "ACTIVITY_END"


class VadSignalType(StrEnum):
    """Start or end of speech, in the older signal."""

    SOS = "VAD_SIGNAL_TYPE_SOS"
    EOS = "VAD_SIGNAL_TYPE_EOS"


class UrlRetrievalStatus(StrEnum):
    """Result of fetching a page for the model."""

    SUCCESS = "URL_RETRIEVAL_STATUS_SUCCESS"
    ERROR = "URL_RETRIEVAL_STATUS_ERROR"
    PAYWALL = "URL_RETRIEVAL_STATUS_PAYWALL"
    UNSAFE = "URL_RETRIEVAL_STATUS_UNSAFE"


class TrafficType(StrEnum):
    """Billing of a request on Vertex."""

    ON_DEMAND = "ON_DEMAND"
    ON_DEMAND_PRIORITY = "ON_DEMAND_PRIORITY"
    ON_DEMAND_FLEX = "ON_DEMAND_FLEX"
    ON_DEMAND_OFFPEAK = "ON_DEMAND_OFFPEAK"
    PROVISIONED_THROUGHPUT = "PROVISIONED_THROUGHPUT"


class CodeLanguage(StrEnum):
    """Language of the model's code."""

    PYTHON = "PYTHON"


class CodeOutcome(StrEnum):
    """Outcome of the model's code."""

    OK = "OUTCOME_OK"
    FAILED = "OUTCOME_FAILED"
    DEADLINE_EXCEEDED = "OUTCOME_DEADLINE_EXCEEDED"
