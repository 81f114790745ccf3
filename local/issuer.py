"""A local OpenID provider: signs a token for any request from loopback.

The key is kept in the state folder and the issuer name contains no port, so tokens stay valid after a restart.
"""

from __future__ import annotations

import hashlib
import json
import time
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from local.provider.control import from_loopback

ISSUER = "http://localhost/_local/issuer"
AUDIENCE = "fencepost-local"
LIFETIME_SECONDS = 12 * 3_600
_ALGORITHM = "RS256"
_KEY_BITS = 2_048


class TokenRequest(BaseModel):
    """Body of `POST /token`: the user, and the default organisation of the token."""

    model_config = ConfigDict(extra="forbid")

    user: str = Field(pattern=r"^[!-~]{1,255}$")
    org: str = Field("", pattern=r"^([a-z0-9][a-z0-9-]{0,62})?$")


@dataclass(frozen=True, slots=True)
class Issuer:
    """Signs tokens with one key."""

    key: RSAPrivateKey

    @classmethod
    def of(cls, folder: Path) -> Issuer:
        """Return the issuer whose key is stored in a folder. Creates the key at the first use."""
        path = folder / "issuer.pem"
        if not path.exists():
            _write(path, generate_private_key(public_exponent=65_537, key_size=_KEY_BITS))
        key = load_pem_private_key(path.read_bytes(), password=None)
        if not isinstance(key, RSAPrivateKey):
            raise TypeError(f"{path} holds no RSA key")
        return cls(key)

    def token(self, user: str, org: str = "", **claims: object) -> str:
        """Return a token for a user. Given claims, e.g. `exp`, override the defaults."""
        now = int(time.time())
        own = {"iss": ISSUER, "aud": AUDIENCE, "sub": user, "iat": now, "exp": now + LIFETIME_SECONDS}
        chosen = {"org_id": org} if org else {}
        payload: dict[str, Any] = {**own, **chosen, **claims}
        return jwt.encode(payload, self.key, algorithm=_ALGORITHM, headers={"kid": self.public_key()["kid"]})

    def public_key(self) -> dict[str, Any]:
        """Return the public key as a JSON Web Key; its id is its thumbprint (RFC 7638)."""
        key = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        canonical = json.dumps({name: key[name] for name in ("e", "kty", "n")}, separators=(",", ":"))
        thumbprint = urlsafe_b64encode(hashlib.sha256(canonical.encode()).digest()).rstrip(b"=").decode()
        return {**key, "kid": thumbprint, "alg": _ALGORITHM, "use": "sig"}


def create_app(issuer: Issuer) -> Starlette:
    """Return the application: `GET /jwks.json`, and `POST /token` for loopback alone."""

    async def key_set(_request: Request) -> Response:
        return JSONResponse({"keys": [issuer.public_key()]})

    async def token(request: Request) -> Response:
        if not from_loopback(request):
            return Response(status_code=404)
        # A page in a browser may not send this media type to another origin unasked.
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return Response(status_code=415)
        try:
            wanted = TokenRequest.model_validate_json(await request.body())
        except ValidationError as error:
            return JSONResponse({"error": str(error)}, 400)
        signed = issuer.token(wanted.user, wanted.org)
        return JSONResponse({"access_token": signed, "token_type": "Bearer", "expires_in": LIFETIME_SECONDS})

    return Starlette(routes=[Route("/jwks.json", key_set), Route("/token", token, methods=["POST"])])


def _write(path: Path, key: RSAPrivateKey) -> None:
    """Write the key atomically, readable by its owner alone."""
    unfinished = path.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    unfinished.touch(mode=0o600)
    unfinished.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    unfinished.replace(path)
