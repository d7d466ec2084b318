"""
Fraud in two tables
===================

After this example you can classify the rows of a table, choose a threshold and see how good it
is.

The accounts of a bank and their transactions are generated: 3 % of the accounts are fraudulent,
60 of each class have a label. Columns are read as they are: numbers, dates, categories, texts,
missing cells.
"""

import matplotlib.pyplot as plt

import drgst

tables = drgst.fraud_tables(7, accounts=3000, positive_rate=0.03, labelled=60)
accounts, transactions = tables.accounts.to_pandas(), tables.transactions.to_pandas()
print(accounts.loc[:4, ["account_id", "label", "opened", "age", "income", "country", "note"]].to_string())

# %%
# Half of the labels are fraud, but 1 % of the accounts without a label, as 60 of 90 are labelled. The prior says so.
model = drgst.SelfTraining(prior={"fraud": 0.01}).fit(accounts, "label", adjacency=transactions)
found = model.predictions()
hidden = found[accounts["label"].isna().to_numpy()]
print((hidden["label"] == "fraud").sum(), "of", len(hidden), "accounts without a label are predicted as fraud")

# %%
# Precision and recall at every threshold, by the truth that only generated tables have.
truth = tables.truth.to_pandas().set_index("account_id")["fraud"]
ranked = hidden.sort_values("p:fraud", ascending=False)
hits = truth.loc[ranked.index].to_numpy().cumsum()[:200]
looked = range(1, 201)
plt.figure(figsize=(6, 4))
plt.plot(looked, hits / looked, label="precision")
plt.plot(looked, hits / truth.loc[hidden.index].sum(), label="recall")
plt.xlabel("accounts looked at, the most suspicious first")
plt.ylim(0, 1.02)
plt.legend()
plt.show()

# %%
# Why is the first account suspicious? The pull is what the log-odds of fraud lose without a
# column or neighbour.
first = ranked.index[0]
for kind in ("feature", "neighbour"):
    for reason in model.explain(first).of_kind(kind, 5):
        print(f"{reason.kind:<10} {reason.name:<16} {reason.detail:<36} {reason.pull:+.2f}")
