"""
Accounts that share a device
============================

After this example you can relate rows by the values that they share, and measure what that is
worth.

Here the transactions of fraudulent accounts tell nothing, but rings use the same devices. A link
relates the accounts that share one, without forming the pairs.
"""

import matplotlib.pyplot as plt
from sklearn.metrics import average_precision_score

import drgst

tables = drgst.fraud_tables(3, accounts=1500, positive_rate=0.05, ring_devices=0.8, informative_edges=0.0)
truth = tables.truth["fraud"].to_pylist()
found = {}
for name, links in {"edges alone": [], "edges and devices": ["device_id"]}.items():
    made = drgst.from_tables(tables.accounts, tables.transactions, label="label", id="account_id", links=links)
    model = drgst.SelfTraining(prior={"fraud": 0.04}).fit(made.graph)
    p = model.predict_proba()[:, list(model.classes_).index("fraud")]
    hidden = made.graph.labels < 0
    found[name] = average_precision_score([t for t, h in zip(truth, hidden, strict=True) if h], p[hidden])
    print(f"{name:<18} average precision {found[name]:.3f}")

# %%
# The notes of the teacher name the weight of each relation.
print(model.history_[0].note)

# %%
plt.figure(figsize=(5, 2.2))
plt.barh(list(found), list(found.values()), color=["#bbbbbb", "#0072b2"])
plt.xlim(0, 1)
plt.xlabel("average precision on accounts without a label")
plt.tight_layout()
plt.show()
