/*
 * One queue of quota shares over one instance type, written by hand from the rules of the scheduler (docs/choices.md),
 * for Spin. Jobs are bits of a word and come in a fixed order; whatever runs may end at any time, and stops take no
 * time. Open are the order of shares (C1) and of borrowers (C2), the victims (C8: every minimal legal set) and the kind
 * of preemption (C9); the other choices have their defaults. benchmarks/spin.py writes the tables in front (SHARES, OF,
 * LIMIT and so on) and the ends of jobs at ENDS.
 *
 * An arrival or an end and the whole pass after it are one atomic step, so states are stored at rest alone: which jobs
 * have come, which wait and which run. Guards stand in parentheses because Spin's parser wants them to.
 */

byte come;                /* groups of jobs that have come */
short waiting, running;   /* jobs */
byte kinds, moves, choice; /* of the next move; 0 at rest. Kinds are bits: 2 for kind 1, 4 for kind 2, and so on */

/* scratch within one d_step, no part of the state */
hidden byte share, wanted, some, inside, starts, legal, taker, within, beyond, stays;
hidden byte count[5];
hidden short using[SHARES];
hidden short head, below, over, candidates, victims, own, others, chosen, starter;
hidden short size, used, total, room, lacking, lacking_own, freed, taken, least, part;

/* A move: counted, or, with its kind among the `wanted`, looked for by its number `choice`. */
inline found(of_kind, whom) {
  if
  :: wanted == 0 -> count[of_kind]++
  :: (wanted && ((wanted >> of_kind) & 1)) ->
     if
     :: choice == 0 -> starter = head; chosen = whom; wanted = 1
     :: else -> choice--
     fi
  :: else -> skip
  fi
}

/* Is there an order in which each of `others` is taken while its share is over its limit? The largest goes last. */
inline takeable() {
  taker = 0; legal = 1;
  do
  :: taker == SHARES || legal == 0 -> break
  :: else ->
     part = others & OF(taker);
     if
     :: (part && using[taker] - SIZE(part) + LARGEST(part) <= LIMIT(taker)) -> legal = 0
     :: else -> taker++
     fi
  od
}

/* Every minimal legal set of victims for the head. */
inline preempt() {
  lacking = size - room;
  lacking_own = (used - BOUND(share) > lacking -> used - BOUND(share) : lacking);
  candidates = below | ((inside || below) -> over & ~OF(share) : 0);
  some = SIZE(below) >= lacking_own;
  within = 0; beyond = 0;
  victims = candidates;
  do
  :: victims == 0 -> break
  :: else ->
     own = victims & OF(share); others = victims & ~OF(share);
     freed = SIZE(own); taken = SIZE(others);
     legal = 0;
     if
     :: others == 0 ->
        legal = freed >= lacking_own && freed - SMALLEST(own) < lacking_own
     :: own == 0 ->
        if
        :: (inside && taken >= lacking && taken - SMALLEST(others) < lacking) -> takeable()
        :: else -> skip
        fi
     :: else ->
        least = SMALLEST(own);
        if
        :: (used - freed <= LIMIT(share) && freed + taken >= lacking
           && freed < lacking_own && !(inside && taken >= lacking)
           && ((own & (own - 1)) == 0 || used - freed + least > LIMIT(share) || freed + taken - least < lacking)
           && ((others & (others - 1)) == 0 || freed + taken - SMALLEST(others) < lacking)) -> takeable()
        :: else -> skip
        fi
     fi;
     if
     :: (legal && inside) -> found(1, victims)
     :: (legal && !inside && others == 0 && used - freed <= LIMIT(share)) -> within = 1; found(2, victims)
     :: (legal && !inside && others == 0 && used - freed > LIMIT(share)) -> beyond = 1; found(4, victims)
     :: (legal && !inside && others && !some) -> found(4, victims)
     :: else -> skip
     fi;
     victims = (victims - 1) & candidates
  od;
  stays = stays || (within && !beyond)
}

/* What the head of each share may do. */
inline look() {
  share = 0; total = SIZE(running); over = 0; stays = 0;
  do
  :: share == SHARES -> break
  :: else ->
     using[share] = SIZE(running & OF(share));
     over = over | (using[share] > LIMIT(share) -> running & OF(share) : 0);
     share++
  od;
  share = 0;
  do
  :: share == SHARES -> break
  :: else ->
     head = HEAD(waiting & OF(share));
     size = SIZE(head);
     if
     :: head == 0 || size > MOST(share) -> skip
     :: else ->
        used = using[share] + size;
        room = KEPT_FROM(share) - OVERCOMMITTED;
        room = POOL - total - (room > 0 -> room : 0);
        inside = used <= LIMIT(share);
        starts = used <= BOUND(share) && size <= room;
        below = running & BELOW(head);
        if
        :: starts && inside -> found(1, 0)
        :: starts && !inside -> found(3, 0)
        :: else -> preempt()
        fi
     fi;
     share++
  od
}

inline pass() {
  do
  :: true -> d_step {
       count[1] = 0; count[2] = 0; count[3] = 0; count[4] = 0;
       wanted = 0;
       look();
       /* Kind 2 is for heads whose chosen victims leave the share inside its limit. Where all of them could have
          others chosen, that do not, what comes after it may be next as well. */
       kinds = (count[1] -> 2 : (count[2] -> 4 : 0));
       if
       :: (count[1] == 0 && (count[2] == 0 || !stays)) ->
          kinds = kinds | (count[3] -> 8 : (count[4] -> 16 : 0))
       :: else -> skip
       fi;
       moves = ((kinds >> 1) & 1) * count[1] + ((kinds >> 2) & 1) * count[2];
       moves = moves + ((kinds >> 3) & 1) * count[3] + ((kinds >> 4) & 1) * count[4]
     }
     if
     :: moves == 0 -> break
     :: moves == 1 -> skip
     :: else -> select (choice : 0 .. moves - 1)
     fi;
     true;
     d_step {
       wanted = kinds;
       look();
       waiting = (waiting & ~starter) | chosen;
       running = (running & ~chosen) | starter;
       kinds = 0; moves = 0; choice = 0
     }
  od
}

active proctype queue() {
end:
  do
  :: atomic {
       if
       :: come < GROUPS -> waiting = waiting | COMING(come); come++
ENDS
       fi;
       pass()
     }
  od
}
