#!/usr/bin/env perl
# swap.pl NAME FIRST SECOND…: until it is killed, NAME is in turn each of the
# others, which lie beside it, and nothing. It is run as the attacker.
use strict;
use warnings;

my ($name, @others) = @ARGV;
while (1) {
    for my $other (@others) {
        rename $other, $name;
        select undef, undef, undef, rand 0.002;
        rename $name, $other;
    }
}
