"""The emulated cloud that all integration tests stand on."""

from __future__ import annotations

from local.emulator import Emulator


def test_a_conditional_update_is_refused_when_its_condition_fails(emulator: Emulator) -> None:
    dynamodb = emulator.client("dynamodb")
    dynamodb.create_table(
        TableName="probe",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
    )
    dynamodb.put_item(TableName="probe", Item={"pk": {"S": "a"}}, ConditionExpression="attribute_not_exists(pk)")
    assert dynamodb.scan(TableName="probe")["Count"] == 1
