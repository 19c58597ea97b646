"""Lines for the log: one for each cause."""

from routerd.mesh import Remark
from routerd.mesh.remarks import CAUSES_REMEMBERED, Remarks

REMARK = Remark("warning", "something is wrong")


def test_a_cause_is_told_once():
    remarks = Remarks()
    assert [remarks.once(REMARK, "cost", "B", 1), remarks.once(REMARK, "cost", "B", 1)] == [[REMARK], []]
    assert remarks.once(REMARK, "cost", "B", 2) == [REMARK]


def test_of_too_many_causes_the_oldest_is_forgotten():
    remarks = Remarks()
    for number in range(CAUSES_REMEMBERED + 1):
        remarks.once(REMARK, number)
    assert [remarks.once(REMARK, CAUSES_REMEMBERED), remarks.once(REMARK, 0)] == [[], [REMARK]]
