"""Section 4.0 of docs/PROTOCOL.md, "Age, rank, barred": which bindings of a member count."""

import heapq

ADMIT, ADDDEV, RMDEV, CONFIRM = 4, 5, 8, 20


class Roll:
    """The devices of a member in a past, oldest first.

    `ages`: the age of each device with a binding that counts. `bars`: the rmdevs that bar each
    device. `links`: (device, operation) of every binding that counts.
    """

    def __init__(self, a, member, past):
        self.a, self.member = a, member
        known = [a.ops[p] for p in past]
        self.ends = [r for r in known if r.type == RMDEV and a.author(r).member == member]
        self.finals = self.counting_finals(known)
        self.ages, self.bars, self.links = {}, {}, []
        self.additions = {}
        self.open = []
        for b in known:
            devices, bound = a.binds(b)
            if bound != member:
                continue
            if b.type == ADDDEV:
                self.additions.setdefault(b.device, []).append(b)
            elif b.type != ADMIT or self.lets_in(b):
                for place, device in enumerate(devices):
                    self.note((a.lam[b.id], b.id, place, 0, bytes(32)), device, b)
        while self.open:
            age, device, name = heapq.heappop(self.open)
            self.take(age, device, a.ops[name])

    def counting_finals(self, known):
        """The final ends of one device that count: those that the strongest confirm names, of the
        confirms by other members that nothing ends; all if there is none."""
        finals = [r for r in self.ends if self.a.is_final_end(r)]
        confirms = sorted((c for c in known if c.type == CONFIRM and len(finals) > 1
                           and self.a.author(c).member != self.member and not self.is_ended(c, known)),
                          key=self.a.rank)
        counting = []
        for device in {r.device for r in finals}:
            own = [r for r in finals if r.device == device]
            named = ([r for r in own if r.id in c.map[1]] for c in confirms)
            counting += next((found for found in named if found), own)
        return counting

    def is_ended(self, c, known):
        """Whether a revocation other than a confirm, even a void one, hits c or what c rests on."""
        from revocations import hits, is_revocation  # imports terms, which imports this

        a = self.a
        ends = [r for r in known if r.type != CONFIRM and is_revocation(a, r)]
        rests_on, more = set(), {c.id}
        while more:
            rests_on |= more
            more = {n for o in map(a.ops.get, more) for n in a.supports(o)} - rests_on
        return any(hits(a, r, a.ops[o]) for o in rests_on for r in ends)

    def lets_in(self, admit):
        """Whether an admit counts: by a replaced phrase, only if a final end knows the admit."""
        phrase = admit.map[3][0][0]
        ends = [r for r in self.finals if r.device == phrase]
        return not ends or any(self.a.knows(r, admit.id) for r in ends)

    def note(self, age, device, b):
        heapq.heappush(self.open, (age, device, b.id))

    def take(self, age, device, b):
        """Takes the next binding. All older ones must have been taken."""
        if b.type == ADDDEV and not all(self.a.knows(r, b.id) for r in self.bars[b.device]):
            return
        self.links.append((device, b))
        if device in self.ages:
            return
        self.ages[device] = age
        self.bars[device] = [r for r in self.ends if r.map[1] == device and self.does_bar(r, age)]
        for next_ in self.additions.get(device, []):
            for place, linked in enumerate(self.a.binds(next_)[0]):
                self.note(self.age_after(age, next_, place), linked, next_)

    def age_after(self, age, b, place):
        """The age of a device by adddev b. No device is older than the one that linked it."""
        said = (self.a.lam[b.id], b.id)
        behind = (*age[:3], *max(said, age[3:]))
        return behind if self.a.takes_place(b) else max(behind, (*said, place, 0, bytes(32)))

    def does_bar(self, r, age):
        if r in self.finals:
            return True
        judge = self.ages.get(r.device)
        return (r.device != r.map[1] and judge is not None and judge < age
                and all(self.a.knows(q, r.id) for q in self.bars[r.device]))
