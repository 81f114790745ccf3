"""A turn: claim the conversation, gather the prompt, call the model once, settle.

Read `service/turns.py` from top to bottom: the whole way from request to stored answer.

    domain/        claims, settlements, prompt assembly, system prompt, signatures
    ports.py       the store of turns
    service/       claiming, answering, the prompt builder, the stateless chat
    dynamodb/      two transactions: claim and settle (docs/adr/0008)
    routes/        `POST /v1/chat`, `POST /api/ai-chat`, regenerate

Tests: `tests/unit/turns`, `tests/integration/test_turn*.py`.
"""
