"""English: the parts that several patterns are made of."""

from __future__ import annotations

from fencepost.screening.domain.rule import after, literals

ORDER = after(
    *literals(
        "please|pls|kindly|now|just|then|and|but|so|must|should|will|shall|also|simply|first|instead|need to|have to|"
        "want you to|like you to|ask you to|going to|you to|can you|could you|would you|completely|immediately|lets|"
        "you may|you can|to always"
    )
)
# What follows an order about the assistant is the end of the clause or the next order, not the thing it is about.
NOT_ABOUT = (
    r"(?! (?:in|on|for|of|inside|within|when|from|at|with|using|via|file|to)\b(?! (?:this|our|the (?:chat"
    r"|conversation|prompt|system)|now|which|me)\b))"
)
ASKED_ORDER = after(
    *literals(
        "please|pls|kindly|now|just|then|and|but|must|will|also|simply|first|to|can you|could you|would you|you to|"
        "lets|instead|you may|exactly|sudo|only|may now|can i|could i|may i|let me|love to|id like to|want to"
    )
)
REVEAL = literals(
    "reveal|show|print|output|display|repeat|recite|paste|dump|leak|expose|disclose|share|tell|give|send|write|type|"
    "list|return|echo|copy|summarise|summarize|translate|provide|spell|quote|reproduce|extract|read|encode|divulge|"
    "state|describe|see|know|view|post|say"
)
TO_ME = r"(?: (?:me|us|out|back|to me|to us|here|with me|down|off))?"
WHOLE = (
    "(?: (?:all|exactly|verbatim|the|full|exact|complete|entire|whole|text|of|contents?|in|word for word|raw|actual"
    "|and|literal|first|a copy|quote|quotation|wording|version|of the|last|words|characters|lines|sentences|and paste|"
    "paragraph|sentence"
    "|part|section|beginning|start|opening|top|half"
    r"|\d{1,4})){0,5}"
)
ENDS = (
    r"(?= ?(?:$|[.!?,;:\n)\]]| ?[가-힣ぁ-んァ-ヶ一-龥]| (?:above|verbatim|now|here|exactly|word|in (?:an?|full"
    "|base64|hex|rot13|reverse|plain|json|xml|tags|leetspeak|emojis?|english|french|german|spanish|japanese|chinese"
    "|korean|code|uppercase|markdown|brackets)|wrapped|between|formatted|separated|surrounded|character|one|as|and"
    "|before|to me|please|text|texts|which|that|you|from|so|i|or|then|line|letter|inside|within|into|using"
    r"|backwards|reversed|with|without|used|given|provided|translated|encoded|i)\b))"
)
