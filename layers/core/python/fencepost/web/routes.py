"""The table of all routes: it serves the OpenAPI document, and the template is held against it.

Importing it loads the handlers' modules, but connects to nothing and imports no SDK.
"""

from __future__ import annotations

from fencepost.access.routes import VisitorRoutes
from fencepost.conversations.routes.attachments import AttachmentRoutes
from fencepost.conversations.routes.conversations import ConversationRoutes
from fencepost.conversations.routes.messages import MessageRoutes
from fencepost.documents.routes import DocumentRoutes
from fencepost.http.routing import RouteGroup
from fencepost.lifecycle.routes.carry import CarryRoutes
from fencepost.lifecycle.routes.diagnostics import DiagnosticsRoutes
from fencepost.lifecycle.routes.erase import EraseRoutes
from fencepost.lifecycle.routes.exports import ExportRoutes
from fencepost.lifecycle.routes.imports import ImportRoutes
from fencepost.memory.routes import FactRoutes
from fencepost.turns.routes.stateless_chat import Chat
from fencepost.turns.routes.turns import RegenerateRoutes, TurnRoutes
from fencepost.web.admin.routes import AdminRoutes

_GROUPS: tuple[type[RouteGroup], ...] = (
    Chat,
    VisitorRoutes,
    TurnRoutes,
    ConversationRoutes,
    EraseRoutes,
    MessageRoutes,
    RegenerateRoutes,
    CarryRoutes,
    FactRoutes,
    ExportRoutes,
    ImportRoutes,
    AttachmentRoutes,
    DocumentRoutes,
    AdminRoutes,
    DiagnosticsRoutes,
)

ROUTES = tuple(route for group in _GROUPS for route in group.table)
"""In the order of the OpenAPI document."""
