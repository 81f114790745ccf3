"""Exports, imports, files and administration, as the OpenAPI document tells of them."""

from __future__ import annotations

from http import HTTPStatus

from fencepost.conversations.schemas import attachments
from fencepost.http.operations import Operation, accepted, created, ok
from fencepost.kernel.errors import ErrorCode
from fencepost.lifecycle.schemas import diagnostics as diagnoses
from fencepost.lifecycle.schemas import storage as stored
from fencepost.web.admin import schemas as admin

_BUNDLE = (
    ErrorCode.IMPORT_INVALID,
    ErrorCode.IMPORT_CONFLICT,
    ErrorCode.BUNDLE_INVALID,
    ErrorCode.BUNDLE_FOREIGN,
    ErrorCode.BUNDLE_TOO_LARGE,
    ErrorCode.BUNDLE_VERSION_UNSUPPORTED,
)
_ADMIN = (ErrorCode.ADMIN_INPUT_INVALID,)
STORED = (
    Operation("POST", "/v1/exports", "exportEverything", "Export everything.", accepted(stored.JobBody)),
    Operation(
        "POST",
        "/v1/conversations/{id}/exports",
        "exportConversation",
        "Export one conversation.",
        accepted(stored.JobBody),
    ),
    Operation("GET", "/v1/exports/{id}", "readExport", "See how far an export is.", ok(stored.ExportBody)),
    Operation(
        "POST",
        "/v1/imports",
        "importBundle",
        "Import a bundle that is sent along, or ask where to upload one.",
        {HTTPStatus.ACCEPTED: stored.JobBody, HTTPStatus.CREATED: stored.ImportUploadBody},
        stored.ImportRequest,
        codes=_BUNDLE,
    ),
    Operation(
        "POST",
        "/v1/imports/{id}",
        "startImport",
        "Import a bundle that was uploaded.",
        accepted(stored.JobBody),
        codes=_BUNDLE,
    ),
    Operation("GET", "/v1/imports/{id}", "readImport", "See how far an import is.", ok(stored.JobBody)),
    Operation(
        "POST",
        "/v1/attachments",
        "offerAttachment",
        "Ask where to upload a file.",
        created(attachments.AttachmentBody),
        attachments.AttachmentRequest,
        codes=(
            ErrorCode.ATTACHMENT_INVALID,
            ErrorCode.ATTACHMENT_TYPE_UNSUPPORTED,
            ErrorCode.ATTACHMENT_TOO_LARGE,
        ),
    ),
    Operation(
        "POST",
        "/v1/attachments/{id}/scan",
        "scanAttachment",
        "Have a file read that was uploaded.",
        {HTTPStatus.ACCEPTED: attachments.AttachmentBody, HTTPStatus.OK: attachments.AttachmentBody},
        codes=(ErrorCode.ATTACHMENT_NOT_READY,),
    ),
    Operation(
        "GET", "/v1/attachments/{id}", "readAttachment", "See what is known of a file.", ok(attachments.AttachmentBody)
    ),
)
ADMINISTRATION = (
    Operation(
        "GET",
        "/v1/admin/organisation",
        "readOrganisation",
        "Read the organisation's settings.",
        ok(admin.OrganisationBody),
    ),
    Operation(
        "PUT",
        "/v1/admin/organisation",
        "writeOrganisation",
        "Replace the organisation's settings.",
        ok(admin.OrganisationBody),
        admin.OrganisationSettings,
        codes=(*_ADMIN, ErrorCode.SETTINGS_CHANGED),
    ),
    Operation("GET", "/v1/admin/sites", "listSites", "List the sites.", ok(admin.SiteList)),
    Operation("GET", "/v1/admin/sites/{id}", "readSite", "Read a site's settings.", ok(admin.SiteBody)),
    Operation(
        "PUT",
        "/v1/admin/sites/{id}",
        "writeSite",
        "Make a site, or replace its settings.",
        ok(admin.SiteBody),
        admin.SiteSettings,
        codes=(*_ADMIN, ErrorCode.SITE_KEY_TAKEN, ErrorCode.SETTINGS_CHANGED, ErrorCode.FACTS_TOO_LARGE),
    ),
    Operation("GET", "/v1/admin/members", "listMembers", "List the members.", ok(admin.MemberList)),
    Operation(
        "PUT",
        "/v1/admin/members/{user}",
        "writeMember",
        "Make somebody a member, or end it.",
        ok(admin.MemberBody),
        admin.MemberSettings,
        codes=(*_ADMIN, ErrorCode.LAST_ADMIN),
    ),
)
_DIAGNOSTICS = "/v1/admin/diagnostics"
DIAGNOSES = (
    Operation(
        "POST",
        _DIAGNOSTICS,
        "openDiagnosis",
        "Open a diagnosis of one conversation, for a reason and a while.",
        created(diagnoses.DiagnosisBody),
        diagnoses.DiagnosisRequest,
        codes=(ErrorCode.DIAGNOSIS_INVALID,),
    ),
    Operation("GET", _DIAGNOSTICS, "listDiagnoses", "List the newest diagnoses.", ok(diagnoses.DiagnosisList)),
    Operation(
        "GET", f"{_DIAGNOSTICS}/{{id}}", "readDiagnosis", "Read a diagnosis' record.", ok(diagnoses.DiagnosisBody)
    ),
    Operation("DELETE", f"{_DIAGNOSTICS}/{{id}}", "closeDiagnosis", "End a diagnosis.", {HTTPStatus.NO_CONTENT: None}),
    Operation(
        "GET",
        f"{_DIAGNOSTICS}/{{id}}/messages",
        "diagnoseMessages",
        "Look at the conversation, without personal data.",
        ok(diagnoses.MaskedMessages),
        query=diagnoses.DiagnosisQuery,
        codes=(ErrorCode.CURSOR_INVALID, ErrorCode.DIAGNOSIS_ENDED),
    ),
    Operation(
        "GET",
        f"{_DIAGNOSTICS}/{{id}}/messages/{{seq}}/context",
        "diagnoseContext",
        "Look at what went into an answer's prompt.",
        ok(diagnoses.DiagnosedContext),
        codes=(ErrorCode.ANSWER_MISSING, ErrorCode.DIAGNOSIS_ENDED),
    ),
)
