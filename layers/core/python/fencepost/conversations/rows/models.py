"""The rows of conversations, messages and attachments in the conversations' table.

    partition                            sort key            row
    org#<org>#own#<owner>                conv#<id>           ConversationRow
                                         msg#<message id>    PointerRow
                                         file#<id>           FileRow
                                         import#<id>         ImportRow
                                         gone#<id>           TombstoneRow
                                         erased              ErasedRow
    org#<org>#own#<owner>#conv#<id>      m#<seq>             MessageRow
                                         block#<first seq>   BlockRow
                                         rating#<seq>        RatingRow

`seq` has twelve digits in a sort key, so that text sorts as numbers do. Times are ISO 8601 in UTC with six decimals.
`fencepost.conversations.rows.messages` makes the keys and maps rows to the domain's values.
"""

from __future__ import annotations

from pynamodb.attributes import (
    BooleanAttribute,
    ListAttribute,
    NumberAttribute,
    TTLAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
)

from fencepost.kernel.aws.rows import AttributeFamily, Row, TimestampAttribute, TypedAttribute, inside


class ConversationRow(Row):
    """A conversation: a `Conversation`, and the question of its open turn while that is not a row.

    The index `by_update` (`pk`, `updated_at`) lists an owner's conversations by their last change.

    Writers: turns claim it and settle in it. `DynamoDbConversations` renames it. Imports and carrying create it. The
    archive moves `archived_through` and `kept_from`. Jobs on summaries and titles set `summarised_through` and
    `title`. An erasure replaces it by a `TombstoneRow`.
    """

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#own#<owner>
    sk = UnicodeAttribute(range_key=True)  # conv#<id>
    id = UnicodeAttribute()
    site = UnicodeAttribute()  # the site's id; empty outside all sites
    incarnation = UnicodeAttribute()  # random; another one once an erased conversation is imported again
    title = UnicodeAttribute()
    created_at = TimestampAttribute()
    updated_at = TimestampAttribute()
    next_seq = NumberAttribute()  # the number of the next message
    summarised_through = NumberAttribute()
    archived_through = NumberAttribute()
    kept_from = NumberAttribute()
    carried_from = UnicodeAttribute(null=True)
    keep_days = NumberAttribute()
    # Present while a turn holds the lease, and after a turn that died.
    open_turn = TypedAttribute(null=True)  # an `OpenTurn` as a map; its `seq` is 0 while the question is not a row
    open_turn_holder = inside("open_turn", UnicodeAttribute(attr_name="holder"))
    open_turn_until = inside("open_turn", TimestampAttribute(attr_name="until"))
    open_content = UnicodeAttribute(null=True)  # the question's text
    open_attachments = ListAttribute[str](null=True)  # ids of the question's files
    open_at = TimestampAttribute(null=True)  # when the question was asked


class PointerRow(Row):
    """Where a question stands: a `MessagePointer`, with an entry for each answer to the question.

    The partition is the owner's, so a message's id is unique for its owner. A claim stores it, on condition that the
    id is new. A settlement adds an answer, parking sets `seq`, imports store it whole.
    """

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#own#<owner>
    sk = UnicodeAttribute(range_key=True)  # msg#<message id>
    message_id = UnicodeAttribute()
    conversation_id = UnicodeAttribute()
    seq = NumberAttribute()  # the question's number; 0 while the question is not a row
    fingerprint = UnicodeAttribute()  # SHA-256 of the question's text and files
    claimed_by = UnicodeAttribute(null=True)  # the holder whose claim stored the row, so that a repetition is told
    answers = TypedAttribute()  # map of revisions to `AnswerEntry` maps
    answer = AttributeFamily(TypedAttribute, "{}", inside="answers")  # answers.<revision>
    made_for = AttributeFamily(NumberAttribute, "key#{}")  # key#<fingerprint>: the revision made for a client's key
    expires_at = TTLAttribute(null=True)  # where the site keeps messages for some days only


class MessageRow(Row):
    """A message: a `Message`. Contents above `BIG_BYTES` are in S3 (`MessageRows`).

    A settlement stores question and answer and changes the status of older ones, parking stores the question of a dead
    turn, imports store messages. `DynamoDbConversations.rate` sets the rating. The archive moves the row to a block.
    """

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#own#<owner>#conv#<conversation>
    sk = UnicodeAttribute(range_key=True)  # m#<seq>
    id = UnicodeAttribute()
    seq = NumberAttribute()
    role = UnicodeAttribute()
    content = UnicodeAttribute(null=True)  # absent where `content_ref` is there
    content_ref = UnicodeAttribute(null=True)  # name of the object that holds a big content
    created_at = TimestampAttribute()
    status = UnicodeAttribute()  # a `MessageStatus`
    reply_to = NumberAttribute(null=True)
    sources = TypedAttribute()  # list of `Source` maps
    usage = TypedAttribute(null=True)  # a `Usage` map
    rating = UnicodeAttribute(null=True)  # up or down
    degraded = BooleanAttribute()
    attachments = ListAttribute[str]()
    holder = UnicodeAttribute(null=True)  # of an answer: the turn that settled it, so that a repetition is told
    expires_at = TTLAttribute(null=True)  # where the site keeps messages for some days only


class BlockRow(Row):
    """A block of archived messages in S3: an `ArchiveBlock`. Written and removed by `DynamoDbArchive` alone."""

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#own#<owner>#conv#<conversation>
    sk = UnicodeAttribute(range_key=True)  # block#<first seq>
    first_seq = NumberAttribute()
    last_seq = NumberAttribute()
    object = UnicodeAttribute()
    sha256 = UnicodeAttribute()
    first_at = TimestampAttribute()
    last_at = TimestampAttribute()


class RatingRow(Row):
    """The rating of an archived answer, given after the answer had moved to its block.

    Written by `DynamoDbConversations.rate`, removed with its block.
    """

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#own#<owner>#conv#<conversation>
    sk = UnicodeAttribute(range_key=True)  # rating#<seq>
    rating = UnicodeAttribute(null=True)  # up or down; absent once it was taken back


class FileRow(Row):
    """An uploaded file: an `Attachment`. Erased with the last conversation that uses it, or with its owner.

    Written by `DynamoDbAttachments`. A claim adds its conversation to `used_by`.
    """

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#own#<owner>
    sk = UnicodeAttribute(range_key=True)  # file#<id>
    id = UnicodeAttribute()
    name = UnicodeAttribute()
    content_type = UnicodeAttribute()
    size = NumberAttribute()  # bytes
    state = UnicodeAttribute()  # an `AttachmentState`
    created_at = TimestampAttribute()
    characters = NumberAttribute()
    error = UnicodeAttribute(null=True)
    used_by = UnicodeSetAttribute(null=True)  # ids of conversations, `MOST_CONVERSATIONS` at most
    expires_at = TTLAttribute(null=True)  # until the file is read


class ImportRow(Row):
    """The mark that an import is writing a conversation. Written and removed by `DynamoDbImports`, and by erasures."""

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#own#<owner>
    sk = UnicodeAttribute(range_key=True)  # import#<conversation>
    job = UnicodeAttribute()  # id of the import's job
    incarnation = UnicodeAttribute()  # of the conversation that is being written


class TombstoneRow(Row):
    """A conversation that was erased. Written by erasures, which keep it for 30 days; removed by an import.

    While `sweeping` is there, rows of the conversation may be left, and no conversation may be made under its id.
    """

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#own#<owner>
    sk = UnicodeAttribute(range_key=True)  # gone#<conversation>
    sweeping = BooleanAttribute(null=True)
    expires_at = TTLAttribute()


class ErasedRow(Row):
    """When everything of an owner was last erased. Written by erasures; jobs store nothing that was made before."""

    pk = UnicodeAttribute(hash_key=True)  # org#<org>#own#<owner>
    sk = UnicodeAttribute(range_key=True)  # erased
    erased_at = TimestampAttribute()
    expires_at = TTLAttribute()
