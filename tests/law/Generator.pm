package Generator;

# Generator - random compiled workflows, as docs/spec.md describes them.
#
#     my $made = Generator::make($seed);   # {spec, starts => [{workflow, params}, ...], ...}
#
# The same seed makes the same workflow. Names are v1, v2, … (tasks, lets,
# calls, collects, yields), p1, p2, … (parameters), e1, … and i1, … (elements and
# indexes), s1, … (states of loops). Some expressions fail on purpose, depending on what was bound.

use strict;
use warnings;
use JSON::PP;

# $crowded: how often a task has a group; $careful: how often a node is a try; $looped: a loop; $again: a block
# with a policy retry; $undoes: one with a policy undo; $timed: a task or block with a policy timeout;
# $late: on_failure(fail_late) takes the place of fail; $rated: a task with a rate;
# $signalled: a task that waits for a signal; $started: one that starts an instance of $child; $races take the place of some of what is parallel
# $asked: a task that waits for an answer, a callback or a signal; $awaited: one that waits for another instance
my ($count, $budget, $crowded, $careful, $looped, $again, $undoes, $timed, $late, $rated, $races, $signalled, $started, $child, $asked, $awaited);
# $alone: nothing may run beside it; $unread: its names are never compared
our ($alone, $unread);
# something may run beside what is drawn, or it is in a finally or undo
our $beside;
my $dags;    # dags take the place of what is parallel

sub pick  { return $_[ int rand @_ ] }
sub maybe { return rand() < $_[0] }

sub value {
    return pick(0, 1, 2, 3, 'a', 'b', undef, JSON::PP::true, JSON::PP::false,
        [], [ 1, 2 ], [ 1, 'b', 3 ], { k => 1 });
}

sub fresh {
    my ($letter) = @_;
    return ($unread && $letter eq 'v' ? 'b' : $letter) . ++$count;
}

sub constant { return [ 'const', $_[0] ] }

# $scope is a list of [name, depth], all that may be read here.
sub name_in {
    my ($scope) = @_;
    return constant(value()) unless @$scope;
    return [ 'var', pick(map { $_->[0] } @$scope) ];
}

sub expression {
    my ($scope, $deep) = @_;
    $deep //= 0;
    my $dice = int rand($deep > 2 ? 6 : 14);
    return constant(value()) if $dice < 3;
    return name_in($scope)   if $dice < 6;
    my $below = sub { expression($scope, $deep + 1) };
    return [ 'add', $below->(), pick(1, 2, $below->()) ] if $dice == 6;
    return [ 'list', $below->(), $below->() ]            if $dice == 7;
    return { a => $below->(), b => $below->() }          if $dice == 8;
    return [ 'get', $below->(), 'k' ]                    if $dice == 9;
    return [ 'coalesce', $below->(), $below->() ]        if $dice == 10;
    return [ 'text', 'x', $below->() ]                   if $dice == 11;
    return condition($scope, $deep + 1)                  if $dice == 12;
    return [ 'if', condition($scope, $deep + 1), $below->(), $below->() ];
}

sub condition {
    my ($scope, $deep) = @_;
    $deep //= 0;
    my $dice = int rand 8;
    return pick(JSON::PP::true, JSON::PP::false) if $dice == 0;
    return name_in($scope)                       if $dice == 1 && maybe(0.4);
    return [ 'not', condition($scope, $deep + 1) ] if $dice == 2 && $deep < 3;
    return [ 'lt', expression($scope, 3), 2 ] if $dice == 3 && maybe(0.4);
    return [ 'eq', name_in($scope), constant(value()) ];
}

# The names that an expression reads, with their depths.
sub reads {
    my ($scope, @expressions) = @_;
    my %depth = map { @$_ } @$scope;    # `error` is bound by `when` itself
    my %read;
    my @todo = @expressions;
    while (@todo) {
        my $e = shift @todo;
        if (ref $e eq 'HASH') { push @todo, values %$e }
        elsif (ref $e eq 'ARRAY') {
            if    ($e->[0] eq 'var')   { $read{ $e->[1] } = $depth{ $e->[1] } if $e->[1] ne 'error' }
            elsif ($e->[0] ne 'const') { push @todo, @$e[ 1 .. $#$e ] }
        }
    }
    return %read ? (reads => \%read) : ();
}

sub policies {
    my ($scope, $grouped) = @_;
    my %policy;
    if ($grouped) {
        $policy{group} = {
            name => pick('g1', 'g1', 'g2', maybe(0.3) ? [ 'text', 'g', name_in($scope) ] : 'g2'),
            maybe(0.8) ? (max => pick(1, 1, 2, 3, maybe(0.2) && @$scope ? name_in($scope) : 1)) : ()
        };
    }
    $policy{priority}   = pick(5, -3, 100, maybe(0.3) && @$scope ? name_in($scope) : 0) if maybe(0.2);
    $policy{queue}      = pick('other', 'default', maybe(0.2) ? [ 'text', 'q', name_in($scope) ] : 'other') if maybe(0.15);
    $policy{idempotent} = pick(JSON::PP::true, JSON::PP::false) if maybe(0.5);
    return \%policy;
}

# No limit only where it comes to an end when all goes well.
sub retry {
    my ($scope, $type) = @_;
    my $error = [ 'var', 'error' ];
    my %retry = (attempts => pick(1, 2, 3, 3, 5));
    $retry{attempts} = [ 'var', pick(map { $_->[0] } @$scope) ] if @$scope && maybe(0.1);
    $retry{delay}     = pick('PT1S', 'PT3S', 'PT25S') if maybe(0.7);
    $retry{backoff}   = pick(1, 2, 3)                 if maybe(0.5);
    $retry{max_delay} = pick('PT2S', 'PT40S')         if maybe(0.3);
    $retry{jitter}    = 1                             if maybe(0.3);
    $retry{when}      = pick([ 'lt', [ 'get', $error, 'attempt' ], pick(2, 3, 4) ],
        [ 'eq', [ 'get', $error, 'kind' ], pick('http', 'lost', 'output') ], condition($scope)) if maybe(0.3);
    if (maybe(0.4)) {
        $retry{on} = pick('http', 'lost', 'input', [ 'list', 'http', 'output', 'lost', 'failed', 'input', 'cancelled' ], [ 'list' ],
            @$scope && maybe(0.3) ? name_in($scope) : 'output');
    }
    elsif (!ref $retry{attempts} && $type ne 't.Fail' && maybe(0.1)) { $retry{attempts} = -1 }
    return \%retry;
}

sub rate { return pick({ name => 'r1', limit => 1, per => 'PT2S' }, { name => 'r2', limit => 2, per => 'PT3S' }, { name => 'r3', limit => 3, per => 'PT40S' }) }

# The word of on_failure that ends an instance.
sub failing { return ($late ? 'fail_late' : 'fail') . ($undoes ? '_undo' : '') }

# What in the policies of a task is evaluated.
sub read_policies { my ($policies) = @_; return map { $policies->{$_} // () } qw(group priority queue retry timeout) }

# Those that wait for something else than a driver.
my $WAITS = qr/Sleep|Signal|Start|Input|Callback|Await/;

# The limits of a policy timeout, some of which are not known before they are evaluated.
sub limits {
    my ($scope, @kinds) = @_;
    my %limit = map { $_ => pick('PT1S', 'PT2S', 'PT3S', 'PT25S', 'PT40S') } map { pick(@kinds) } 1 .. 2;
    $limit{ (sort keys %limit)[0] } = [ 'if', [ 'eq', name_in($scope), constant(value()) ], 'PT2S', constant(undef) ] if @$scope && maybe(0.1);
    return \%limit;
}

sub task {
    my ($scope) = @_;
    my $type = pick(('t.Do') x 6, ('t.Plain') x 3, ('t.Job') x 4, ('t.Bare') x 2, ('t.Named') x 2, 't.Sleep', 't.Sleep', maybe(0.3) ? 't.Fail' : 't.Do');
    $type = 't.Signal' if $signalled && maybe($signalled);
    $type = 't.Start' if $started && maybe($started);
    $type = pick('t.Input', 't.Input', 't.Callback', 't.Callback', 't.Signal') if $asked && maybe($asked);
    $type = 't.Await' if $awaited && maybe($awaited);
    my $node = { kind => 'task', line => 1, type => $type };
    $node->{args} = $type eq 't.Do' ? { x => expression($scope) }
        : $type eq 't.Sleep' ? { duration => maybe(0.9) ? pick('PT1S', 'PT3S', 'PT40S') : name_in($scope) }
        : $type eq 't.Fail'  ? { msg => 'no' }
        : $type eq 't.Signal' ? { name => pick('x', 'x', 'y') }
        : $type eq 't.Start' ? start_of_child()
        : $type eq 't.Input' ? { title => maybe(0.95) ? 'Go on?' : '', form => form($scope) }
        : $type eq 't.Callback' ? { name => pick('x', 'x', 'z') }
        : $type eq 't.Await' ? { id => instance($scope), accept => ends() }
        :                      {};
    $node->{as} = fresh('v') if $type =~ /Do|Job|Bare|Named|Start|Input|Callback|Await/ && maybe(0.8);
    my $policies = $type =~ /$WAITS|Fail/ ? {} : policies($scope, maybe($crowded));
    $policies->{retry} = retry($scope, $type) if maybe(0.4);
    $policies->{on_failure} = pick('pause', 'skip', 'skip', 'skip_all', 'skip_all', failing()) if maybe($late ? 0.3 : 0.1);
    $policies->{timeout} = limits($scope, qw(inactivity runtime deadline), $type =~ $WAITS ? () : 'wait') if $timed && $type ne 't.Fail' && maybe($timed);
    if ($type =~ /Input|Callback/ && maybe(0.4)) {
        $policies->{timeout} = limits($scope, qw(inactivity runtime));
        $policies->{retry} //= { attempts => 3, maybe(0.5) ? (delay => 'PT1S') : () };
    }
    # an attempt that is too short each time must not be tried for ever
    $policies->{retry}{attempts} = 2 if ($policies->{timeout} || $type =~ /Start|Await/) && (($policies->{retry} // {})->{attempts} // 0) eq '-1';
    $policies->{rate} = rate() if $rated && $type !~ /$WAITS|Fail/ && maybe($rated);
    $node->{policies} = $policies if %$policies;
    my %reads = reads($scope, $node->{args}, read_policies($policies));
    return { %$node, %reads };
}

# Calls of SQL tasks that are one task: returns it and the names that it binds.
sub atomic {
    my ($scope) = @_;
    my @calls;
    for my $k (1 .. pick(1, 2, 2, 3)) {
        my $args = { x => expression($scope) };
        push @calls, {
            kind => 'task', line => 1, type => $k == 1 ? 't.Set' : pick('t.Set', 't.Tell'), args => $args,
            maybe(0.7) ? (as => fresh('v')) : (), reads($scope, $args)
        };
    }
    my $policies = policies($scope, maybe($crowded));
    $policies->{retry} = retry($scope, 't.Set') if maybe(0.4);
    $policies->{timeout} = limits($scope, qw(inactivity runtime deadline wait)) if $timed && maybe($timed);
    $policies->{rate} = rate() if $rated && maybe($rated);
    my %reads = reads($scope, read_policies($policies));
    return ({ kind => 'atomic', line => 1, steps => \@calls, %$policies ? (policies => $policies) : (), %reads }, map { $_->{as} // () } @calls);
}

# Steps one after another: returns the nodes and the names that they bind.
sub steps {
    my ($scope, $depth, $deep, $main, $length) = @_;
    my @here = @$scope;
    my (@steps, @bound);
    for (1 .. $length) {
        my ($node, @names) = node(\@here, $depth, $deep, $main);
        push @steps, { kind => 'checkpoint', line => 1, maybe(0.3) ? (only => JSON::PP::true) : () } if !$beside && maybe(0.1);
        push @steps, $node;
        push @bound, map { [ $_, $depth ] } @names;
        push @here,  map { [ $_, $depth ] } @names;
        last if $node->{kind} eq 'return';
    }
    return (\@steps, map { $_->[0] } @bound);
}

sub node {
    my ($scope, $depth, $deep, $main) = @_;
    my ($node, @names) = bare_node($scope, $depth, $deep, $main);
    return ($node, @names) unless $undoes && $deep <= 4 && $budget >= 0 && maybe($undoes);
    return ($node, @names) unless $node->{kind} =~ /^(task|atomic|seq|call)$/ && !$node->{undo};
    # what undoes it has a scope of its own, in which it sees the names of the node, too
    local $beside = 1;
    my ($body) = node([ @$scope, map { [ $_, $depth ] } @names ], $depth + 1, $deep + 2, 0);
    $body = { kind => 'seq', line => 1, steps => [$body] } if $body->{kind} eq 'call' || $body->{undo};
    return ({ %$node, undo => { kind => 'undo', line => 1, body => $body } }, @names);
}

sub bare_node {
    my ($scope, $depth, $deep, $main) = @_;
    $budget--;
    return try_it($scope, $depth, $deep, $main) if $deep <= 4 && $budget >= 0 && maybe($careful);
    return loop($scope, $depth, $deep, $main) if $looped && $deep <= 4 && $budget >= 0 && maybe($looped);
    return again($scope, $depth, $deep, $main) if $again && $deep <= 4 && $budget >= 0 && maybe($again);
    my $dice = rand 100;
    $dice = rand 68 if $alone;
    $dice = rand 62 if $deep > 4 || $budget < 0;
    if ($dice < 52) {
        return atomic($scope) if maybe(0.15);
        my $node = task($scope);
        return ($node, $node->{as} // ());
    }
    if ($dice < 60) {
        my $value = expression($scope);
        my $name  = fresh('v');
        return ({ kind => 'let', line => 1, as => $name, value => $value, reads($scope, $value) }, $name);
    }
    if ($dice < 63) {
        return task($scope) unless $main;
        my $value = expression($scope);
        return { kind => 'return', line => 1, maybe(0.8) ? (value => $value, reads($scope, $value)) : () };
    }
    if ($dice < 68) {
        my ($steps, @names) = steps($scope, $depth, $deep + 1, $main, pick(1, 2, 3));
        my %policies = maybe(0.2) ? (on_failure => pick('pause', 'skip', 'skip_all', failing())) : ();
        $policies{timeout} = limits($scope, 'deadline') if $timed && maybe($timed);
        my %reads = reads($scope, $policies{timeout} // ());
        return ({ kind => 'seq', line => 1, steps => $steps, %policies ? (policies => \%policies) : (), %reads }, @names);
    }
    if ($dice < 77) {
        return par($scope, $depth, $deep);
    }
    if ($dice < 83) {
        my $condition = condition($scope);
        my ($then, @names) = node($scope, $depth, $deep + 1, $main);
        my ($else, @other);
        ($else, @other) = node($scope, $depth, $deep + 1, $main) if maybe(0.6);
        # both branches may bind the same name
        if ($else && !$then->{undo} && !$else->{undo} && @names && @other && ($then->{as} // '') eq $names[0] && ($else->{as} // '') eq $other[0]) {
            $else->{as} = $names[0];
            @other = ();
        }
        return ({ kind => 'if', line => 1, condition => $condition, then => $then, $else ? (else => $else) : (), reads($scope, $condition) }, @names, @other);
    }
    return choice($scope, $depth, $deep, $main) if $dice < 88;
    return forall($scope, $depth, $deep) if $dice < 95;
    return call($scope, $deep);
}

sub par {
    my ($scope, $depth, $deep, $sound) = @_;
    return race($scope, $depth, $deep) if $races && !$sound && maybe($races);
    return dag($scope, $depth, $deep) if $dags && !$sound;
    local $beside = 1;
    my (@branches, @names);
    for (1 .. pick(1, 2, 2, 3)) {
        my ($branch, @bound) = $sound && maybe(0.8) ? sound() : node($scope, $depth, $deep + 1, 0);
        push @branches, $branch;
        push @names,    @bound;
    }
    return ({ kind => 'par', line => 1, branches => \@branches }, @names);
}

# Steps in any order: each sees the names of those that it comes after, and those
# around the dag.
sub dag {
    my ($scope, $depth, $deep) = @_;
    local $beside = 1;
    my (@steps, @names);
    for my $k (0 .. pick(0, 1, 2, 2, 3)) {
        my @before = grep { maybe(0.4) } 0 .. $k - 1;
        my ($node, @bound) = node([ @$scope, map { @{ $steps[$_]{bound} } } @before ], $depth, $deep + 1, 0);
        push @steps, { node => $node, before => \@before, bound => [ map { [ $_, $depth ] } @bound ], place => rand };
        push @names, @bound;
    }
    my @order = sort { $steps[$a]{place} <=> $steps[$b]{place} } 0 .. $#steps;
    my %ordinal = map { $order[$_] => $_ + 1 } 0 .. $#order;
    return ({
        kind => 'dag', line => 1, branches => [ map { $steps[$_]{node} } @order ],
        after => [ map { [ sort { $a <=> $b } map { $ordinal{$_} } @{ $steps[$_]{before} } ] } @order ]
    }, @names);
}

# Which branch wins depends, at times, on which of several moves of one moment comes
# first: nothing reads its names.
sub race {
    my ($scope, $depth, $deep) = @_;
    local ($beside, $unread) = (1, 1);
    my @branches;
    for (1 .. pick(1, 2, 2, 3)) {
        my ($branch) = node([@$scope], $depth + 1, $deep + 1, 0);
        $branch = { kind => 'seq', line => 1, steps => [$branch] } if $branch->{kind} eq 'call' || $branch->{undo};
        push @branches, $branch;
    }
    return { kind => 'race', line => 1, branches => \@branches };
}

# What can be evaluated: it fails, if at all, after others beside it have begun.
sub sound {
    my $type = pick('t.Do', 't.Do', 't.Plain', 't.Job', 't.Job', 't.Bare', 't.Named', 't.Sleep');
    $type = $child ? pick('t.Start', 't.Await') : 't.Await' if $awaited && maybe(0.5);
    my $task = {
        kind => 'task', line => 1, type => $type,
        args => $type eq 't.Do' ? { x => constant(pick(1, undef)) } : $type eq 't.Sleep' ? { duration => pick('PT1S', 'PT3S') }
            : $type eq 't.Start' ? start_of_child() : $type eq 't.Await' ? { id => instance([]), accept => ends() } : {},
        $type !~ $WAITS && maybe($crowded) ? (policies => { group => { name => pick('g1', 'g2'), max => pick(1, 2) } }) : ()
    };
    return $task if maybe(0.5);
    return { kind => 'seq', line => 1, steps => [ $task, scalar sound() ] } if maybe(0.6);
    return { kind => 'forall', line => 1, name => fresh('e'), in => constant([ 1 .. pick(2, 3) ]), maybe(0.5) ? (max => pick(1, 2)) : (), body => $task };
}

# What a body with branches had done when its first error was caught depends on
# which of several moves of one moment comes first: nothing outside reads its
# names, and no `when` looks at the error.
sub try_it {
    my ($scope, $depth, $deep, $main) = @_;
    my $plain = $alone || maybe(0.5);
    my ($body, @names);
    {
        local $alone = $plain;
        local $unread = $unread || !$plain;
        ($body, @names) = !$plain && maybe(0.5) ? par($scope, $depth, $deep + 1, 1) : maybe(0.7) ? body_steps($scope, $depth, $deep, $main) : node($scope, $depth, $deep + 1, $main);
    }
    @names = () unless $plain;
    my $seen = [ @$scope, map { [ $_, $depth ] } @names ];
    my (@catches, @bound);
    for (1 .. pick(1, 1, 2)) {
        my $error = fresh('c');
        my $when = condition($seen);
        $when = [ 'lt', [ 'get', [ 'var', $error ], 'attempt' ], 2 ] if $plain && maybe(0.4);
        my ($then, @added) = node($seen, $depth, $deep + 1, $main);
        # the body and its catches may bind the same name
        if (@names && @added && !$then->{undo} && ($then->{as} // '') eq $added[0] && maybe(0.5) && !grep { $_ eq $names[0] } @bound) {
            $then->{as} = $names[0];
            shift @added;
        }
        push @bound, @added;
        push @catches, { kind => 'catch', line => 1, name => $error, body => $then, maybe($plain ? 0.6 : 0.3) ? (when => $when, reads([ @$seen, [ $error, $depth ] ], $when)) : () };
    }
    my @last;
    if (maybe(0.4)) {
        local $beside = 1;
        @last = node($seen, $depth, $deep + 1, 0);
    }
    my $finally = shift @last;
    my $try = { kind => 'try', line => 1, body => $body, catches => \@catches };
    if ($finally) {
        $try->{finally} = { kind => 'finally', line => 1, body => $finally };
        # then it need not have a catch; what none of them binds is never bound
        if (maybe(0.3)) {
            delete $try->{catches};
            @bound = ();
        }
    }
    return ($try, @names, @bound, @last);
}

# Steps that are tried again as a whole. What holds for the body of a try holds for
# them, too: with branches in it, no error is another one than others.
sub again {
    my ($scope, $depth, $deep, $main) = @_;
    my $plain = $alone || maybe(0.5);
    my ($steps, @names);
    {
        local $alone = $plain;
        local $unread = $unread || !$plain;
        if (!$plain && maybe(0.5)) {
            ($steps->[0], @names) = par($scope, $depth, $deep + 1, 1);
        }
        else { ($steps, @names) = steps($scope, $depth, $deep + 1, $main, pick(1, 2, 3)) }
    }
    my $retry = block_retry($scope, $plain);
    my $policies = { retry => $retry, maybe(0.2) ? (on_failure => pick('pause', 'skip', 'skip_all', $late ? 'fail_late' : 'fail')) : () };
    $policies->{timeout} = limits($scope, 'deadline') if $timed && maybe($timed);
    return ({ kind => 'seq', line => 1, steps => $steps, policies => $policies, reads($scope, $retry, $policies->{timeout} // ()) }, $plain ? @names : ());
}

sub block_retry {
    my ($scope, $plain) = @_;
    my $error = [ 'var', 'error' ];
    my @all = ('list', qw(http output lost failed input cancelled limit));
    my %retry = (attempts => pick(1, 2, 2, 3));
    $retry{attempts} = [ 'var', pick(map { $_->[0] } @$scope) ] if $plain && @$scope && maybe(0.1);
    $retry{delay}     = pick('PT1S', 'PT3S', 'PT25S') if maybe(0.6);
    $retry{backoff}   = 2      if maybe(0.3);
    $retry{max_delay} = 'PT2S' if maybe(0.2);
    $retry{jitter}    = 1      if maybe(0.2);
    $retry{on} = !$plain || maybe(0.4) ? [@all] : pick('http', [ 'list', 'http', 'output', 'failed' ], 'input') if !$plain || maybe(0.6);
    $retry{when} = $plain && maybe(0.6) ? pick([ 'lt', [ 'get', $error, 'attempt' ], 2 ], [ 'eq', [ 'get', $error, 'kind' ], 'http' ]) : condition($scope) if maybe(0.3);
    return \%retry;
}

sub body_steps {
    my ($scope, $depth, $deep, $main) = @_;
    my ($steps, @names) = steps($scope, $depth, $deep + 1, $main, $undoes ? pick(2, 3, 4) : pick(1, 2, 3));
    give_up($steps);
    return ({ kind => 'seq', line => 1, steps => $steps }, @names);
}

# Has steps fail in the end, so that something is undone.
sub give_up {
    my ($steps) = @_;
    return unless $undoes && maybe(0.5) && $steps->[-1]{kind} ne 'return';
    push @$steps, { kind => 'task', line => 1, type => 't.Fail', args => { msg => 'no' } };
    return;
}

# A switch: what all of its branches bind they bind to the same name.
sub choice {
    my ($scope, $depth, $deep, $main) = @_;
    my @case = map { [ 'list', map { maybe(0.8) ? constant(value()) : expression($scope, 2) } 1 .. pick(1, 1, 2) ] } 1 .. pick(1, 2, 3);
    my $on = [ 'list', maybe(0.7) ? name_in($scope) : expression($scope, 1), @case ];
    my (@branches, @names, $first);
    for (1 .. @case + maybe(0.6)) {
        my ($branch, @bound) = node($scope, $depth, $deep + 1, $main);
        if (@bound && !$branch->{undo} && ($branch->{as} // '') eq $bound[0]) {
            $first //= $bound[0];
            $branch->{as} = $first;
            shift @bound;
        }
        push @branches, $branch;
        push @names, @bound;
    }
    return ({ kind => 'switch', line => 1, on => $on, branches => \@branches, reads($scope, $on) }, $first // (), @names);
}

sub forall {
    my ($scope, $depth, $deep) = @_;
    local $beside = 1;
    my ($name, $index) = (fresh('e'), maybe(0.4) ? fresh('i') : undef);
    my $in = pick(constant([ 1 .. int rand 6 ]), constant([ 'a', 'b', 3 ]), [ 'range', 1, int rand 5 ],
        maybe(0.5) ? name_in($scope) : [ 'list', expression($scope, 3), 2, 1 ],
        [ 'range', 1, expression($scope, 3) ]);
    my $max = maybe(0.5) ? pick(1, 2, 3, maybe(0.2) ? name_in($scope) : 2) : undef;
    # after one failure too many it depends on the moment whether another element has begun
    my $tolerate = $alone || maybe(0.7) ? undef : defined $max ? '100%' : pick(0, 1, 1, 2, '50%', '100%');
    my $inside = [ @$scope, [ $name, $depth + 1 ], $index ? [ $index, $depth + 1 ] : () ];
    my ($body, @names);
    {
        local $unread = $unread || defined $tolerate;
        ($body, @names) = element($inside, $depth + 1, $deep + 1);
    }
    my $bound = [ @$inside, map { [ $_, $depth + 1 ] } @names ];
    my @collect = map { { as => fresh('v'), value => maybe(0.85) ? name_in($bound) : expression($bound, 1) } } 1 .. pick(0, 1, 1, 2);
    my %reads = reads($bound, map { $_->{value} } @collect);
    my $node = {
        kind => 'forall', line => 1, name => $name, $index ? (index => $index) : (), in => $in,
        defined $max ? (max => $max) : (), defined $tolerate ? (tolerate => $tolerate) : (), body => $body,
        @collect ? (collect => \@collect) : (), $reads{reads} ? (collect_reads => $reads{reads}) : (),
        reads($scope, $in, $max // ())
    };
    return ($node, map { $_->{as} } @collect);
}

# while, repeat or fold, of few rounds: most of them come to a good end.
sub loop {
    my ($scope, $depth, $deep, $main) = @_;
    my $kind = pick(qw(while repeat fold));
    my ($state, $element) = (fresh('s'), fresh('e'));
    my @inside = (@$scope, $kind ne 'repeat' ? [ $state, $depth + 1 ] : (), $kind eq 'fold' ? [ $element, $depth + 1 ] : ());
    my ($body, @names) = node(\@inside, $depth + 1, $deep + 1, $main);
    $body = { kind => 'seq', line => 1, steps => [$body] } if $body->{kind} eq 'call' || $body->{undo} || maybe(0.2);
    my $bound = [ @inside, map { [ $_, $depth + 1 ] } @names ];
    my $counts = $kind eq 'while' && maybe(0.8);
    my $yield = { as => fresh('v'), value => $counts ? [ 'add', [ 'var', $state ], 1 ] : expression($bound, 1) };
    my %own = $kind eq 'fold'
        ? (over => [ 'list', expression($scope, 2), pick(constant([ 1, 'b', 3 ]), [ 'range', 1, int rand 4 ], maybe(0.3) ? name_in($scope) : constant([ [1], undef ])) ])
        : (max => pick(1, 2, 3, 4, maybe(0.2) ? name_in($scope) : 3));
    $own{start} = $counts ? int rand 3 : expression($scope, 2) if $kind eq 'while';
    my $seen = $kind eq 'while' ? [ @$scope, [ $state, $depth + 1 ] ] : $bound;
    my %test = $kind eq 'while' ? (while => $counts ? [ 'lt', [ 'var', $state ], 3 ] : condition($seen))
        : $kind eq 'repeat' ? (until => maybe(0.5) ? condition($seen) : JSON::PP::true) : ();
    my $yields = $kind ne 'repeat' || maybe(0.6);
    my %reads = reads($bound, values %test, $yields ? $yield->{value} : ());
    return ({
        kind => $kind, line => 1, body => $body, %own, %test, $yields ? (yield => $yield) : (),
        $kind ne 'repeat' ? (name => $state) : (), $kind eq 'fold' ? (element => $element) : (),
        $reads{reads} ? (round_reads => $reads{reads}) : (), reads($scope, values %own)
    }, $yields ? $yield->{as} : ());
}

sub element {
    my ($scope, $depth, $deep) = @_;
    my ($body, @names) = node($scope, $depth, $deep, 0);
    # a task that opens a scope hands its own priority to its undo
    return ($body, @names) unless $body->{kind} eq 'call' || $body->{undo} && $body->{kind} =~ /^(task|atomic)$/ || maybe(0.3);
    my $bound = [ @$scope, map { [ $_, $depth ] } @names ];
    my ($more, @added) = maybe(0.5) ? steps($bound, $depth, $deep, 0, 1) : ([]);
    return ({ kind => 'seq', line => 1, steps => [ $body, @$more ] }, @names, @added);
}

sub call {
    my ($scope, $deep) = @_;
    my @params = map { fresh('p') } 1 .. pick(0, 1, 2);
    my %args   = map { $_ => expression($scope, 1) } @params;
    my $retries = $again && maybe(0.4);
    my $steps;
    {
        local $unread = $unread || $retries;
        ($steps) = steps([ map { [ $_, 0 ] } @params ], 0, $deep + 1, 1, pick(1, 2, 3));
    }
    my $name = maybe(0.7) ? fresh('v') : undef;
    my %policies = $retries ? (retry => block_retry($scope, 0)) : ();
    $policies{timeout} = limits($scope, 'deadline') if $timed && maybe($timed);
    return ({
        kind => 'call', line => 1, workflow => 'inner', args => \%args, steps => $steps,
        %policies ? (policies => \%policies) : (), $name ? (as => $name) : (), reads($scope, \%args, values %policies)
    }, $name // ());
}

sub request {
    return { transport => 'builtin', args => { op => 'noop' }, @_ };
}

sub task_types {
    my $response = [ 'var', 'response' ];
    my $state    = [ 'get', $response, 'state' ];
    my $start    = request(handle => { id => [ 'get', $response, 'id' ] });
    my @handle   = (args => { op => 'noop', handle => [ 'var', 'handle' ] });
    my @name     = (args => { op => 'noop', name => [ 'instance', 'attempt' ] });
    my $polls    = sub { return request(
        @_,
        every => { delay => 'PT5S' }, success => [ 'eq', $state, 'done' ],
        failure => [ 'eq', $state, 'bad' ], output => [ 'get', $response, 'value' ]) };
    return {
        't.Do' => {
            name => 't.Do', machine => 'sync', params => [ { name => 'x', type => { optional => 'json' }, default => undef } ],
            policies => { idempotent => [ 'ne', [ 'var', 'x' ], undef ] },
            requests => { start => request(output => [ 'get', $response, 'value' ]) }
        },
        't.Plain' => { name => 't.Plain', machine => 'sync', params => [], requests => { start => request() } },
        't.Job'   => {
            name => 't.Job', machine => 'async', params => [],
            requests => { start => $start, poll => $polls->(@handle), cancel => request(@handle), cleanup => request(@handle) }
        },
        't.Bare'  => { name => 't.Bare', machine => 'async', params => [], requests => { start => $start, poll => $polls->(@handle) } },
        't.Named' => {
            name => 't.Named', machine => 'async', params => [],
            requests => { start => request(@name), poll => $polls->(@name), cancel => request(@name), cleanup => request(@name) }
        },
        't.Set' => {
            name => 't.Set', machine => 'sync', params => [ { name => 'x', type => { optional => 'json' }, default => undef } ],
            policies => { idempotent => [ 'ne', [ 'var', 'x' ], undef ] },
            requests => { start => {
                transport => 'sql', args => { statement => 'select $1', params => [ 'list', [ 'var', 'x' ] ], rows => JSON::PP::true },
                failure => [ 'eq', [ 'get', $response, 'value' ], 3 ], output => [ 'get', $response, 'value' ]
            } }
        },
        't.Tell' => {
            name => 't.Tell', machine => 'sync', params => [ { name => 'x', type => { optional => 'json' }, default => undef } ],
            policies => { idempotent => JSON::PP::true },
            requests => { start => { transport => 'sql', args => { statement => 'select 1' }, success => [ 'ne', [ 'get', $response, 'value' ], 'a' ] } }
        },
        't.Sleep' => { name => 't.Sleep', machine => 'wait', wait => 'sleep', params => [ { name => 'duration', type => 'duration' } ] },
        't.Signal' => { name => 't.Signal', machine => 'wait', wait => 'signal', params => [ { name => 'name', type => 'string' } ] },
        't.Start' => {
            name => 't.Start', machine => 'wait', wait => 'child',
            params => [
                (map { { name => $_, type => { optional => 'json' } } } qw(workflow params)),
                { name => 'detached', type => { optional => 'json' }, default => JSON::PP::false },
                { name => 'accept', type => { optional => 'json' }, default => [ 'list', 'success', 'warning' ] }
            ]
        },
        't.Input' => { name => 't.Input', machine => 'wait', wait => 'input', params => [ { name => 'title', type => 'string' }, { name => 'form', type => { optional => 'json' } } ] },
        't.Callback' => { name => 't.Callback', machine => 'wait', wait => 'callback', params => [ { name => 'name', type => 'string' } ] },
        't.Await' => { name => 't.Await', machine => 'wait', wait => 'instance', params => [ map { { name => $_, type => { optional => 'json' } } } qw(id accept) ] },
        't.Fail'  => { name => 't.Fail', machine => 'wait', wait => 'fail', params => [ { name => 'msg', type => 'string' } ] },
    };
}

# Another instance is waited for, or not; which ends of it are accepted differs.
sub start_of_child {
    return {
        workflow => $child->{name}, params => { map { $_->{name} => constant(value()) } @{ $child->{params} } }, detached => maybe(0.15) ? JSON::PP::true : JSON::PP::false,
        accept => ends()
    };
}

sub ends { return [ 'list', pick([qw(success warning)], [qw(success warning)], ['success'], [qw(success warning error)], [qw(success aborted)], [qw(success warning error aborted)])->@* ] }

# The number of another instance, mostly one that was started before or after this one: they have consecutive numbers.
# It may be its own, or that of none.
sub instance {
    my ($scope) = @_;
    return [ 'get', name_in($scope), 'instance' ] if @$scope && maybe(0.1);
    return [ 'add', [ 'instance', 'id' ], pick(-1, -1, 1, 1, 1, 2, 3, maybe(0.3) ? 0 : -2, maybe(0.2) ? 40 : 1) ];
}

# Forms, some of which are none.
sub form {
    my ($scope) = @_;
    my $yes = { type => 'boolean' };
    return maybe(0.5) && @$scope ? name_in($scope) : constant(pick({}, { ok => { type => 'object' } }, { ok => $yes, n => 1 })) if maybe(0.1);
    return constant(pick(
        { ok => $yes },
        { ok => { %$yes, default => JSON::PP::true }, n => { type => 'integer', minimum => 0, maximum => 5 } },
        { pick => { type => 'string', enum => [qw(a b)] }, n => { type => 'integer', default => 1 } },
        { properties => { n => { type => 'number', maximum => 3 }, t => { type => 'string', maxLength => 2 } }, required => ['n'], title => 'T' },
        { l => { type => 'array', items => { type => 'integer' } }, t => { type => 'string', minLength => 1, default => 'x' } }
    ));
}

# A small workflow whose instances are started by tasks; some of them fail, or wait for signals, or others outside.
sub child {
    my ($name) = @_;
    my ($left, $often) = ($budget, $started);
    ($budget, $started, $signalled, $asked) = (3, 0, pick(0, 0.3), $awaited ? pick(0, 0.3) : 0);
    my $workflow = workflow($name, 1, 2);
    ($budget, $started, $signalled, $asked) = ($left, $often, 0, 0);
    return $workflow;
}

# Two workflows at most, of which the second is small; both use the same groups.
sub workflow {
    my ($name, @length) = @_;
    my @params = map { fresh('p') } 1 .. 2;
    my $retries = $again && maybe(0.3);
    my $seen = [ map { [ $_, 0 ] } @params ];
    my $steps;
    {
        local $unread = $unread || $retries;
        ($steps) = steps($seen, 0, 0, 1, pick(@length));
    }
    give_up($steps);
    my %policies = maybe($late ? 0.8 : $undoes ? 0.4 : 0.1) ? (on_failure => pick('skip', 'skip_all', (failing()) x ($undoes || $late ? 3 : 1))) : ();
    $policies{retry} = block_retry($seen, 0) if $retries;
    $policies{timeout} = limits($seen, 'deadline') if $timed && maybe($timed / 2);
    return {
        name => $name, line => 1, steps => $steps, %policies ? (policies => \%policies) : (),
        params => [ map { { name => $_, type => { optional => 'json' } } } @params ]
    };
}

sub make {
    my ($seed) = @_;
    srand $seed;
    $dags = $seed % 3 == 2;
    ($count, $budget, $crowded, $careful) = (0, pick(4, 8, 14, 20), pick(0.4, 0.4, 0.9), pick(0.12, 0.3, 0.6));
    $looped = $seed % 6 % 4 ? 0 : pick(0.15, 0.4);
    $signalled = $seed % 8 == 6 ? pick(0.3, 0.6) : 0;
    $started = $seed % 8 == 3 ? pick(0.3, 0.6) : $seed % 16 == 10 ? pick(0.1, 0.3) : 0;
    $asked = $seed % 8 == 7 || $seed % 48 == 21 ? pick(0.3, 0.5, 0.8) : 0;
    $awaited = $seed % 8 == 2 || $seed % 48 == 13 ? pick(0.2, 0.4) : 0;
    $again = $seed % 5 == 4 ? pick(0.15, 0.3) : 0;
    $undoes = $seed % 4 == 1 ? pick(0.2, 0.4, 0.7) : 0;
    $timed = $seed % 7 == 3 ? pick(0.2, 0.4) : 0;
    $late = $seed % 9 % 5 == 2;
    $races = $seed % 5 == 2 ? 0.6 : 0;
    $rated = $seed % 11 == 4 ? pick(0.3, 0.6) : 0;
    ($budget, $careful) = (pick(14, 20, 26), pick(0.3, 0.5)) if $undoes;
    $child = $started ? child("c$seed") : undef;
    my @workflows = workflow("w$seed", 1 .. 5);
    push @workflows, workflow("x$seed", 1, 2) if maybe(0.3);
    tag($_) for $seed % 8 == 6 ? @workflows : ();
    my @starts = ($workflows[0], maybe(0.5) ? pick(@workflows) : (), @workflows[ 1 .. $#workflows ]);
    push @starts, map { pick(@workflows) } 1 .. pick(1, 2, 3) if $awaited;
    push @workflows, $child // ();
    my $types = task_types();
    my $text  = JSON::PP->new->canonical->encode(\@workflows);
    return {
        spec => {
            format => 1, file => "w$seed.wf", workflows => \@workflows,
            task_types => { map { $_ => $types->{$_} } grep { index($text, qq("type":"$_")) >= 0 } keys %$types },
        },
        starts => [ map({ start($_, $seed % 16 > 11 ? qw(own kept) : ()) } @starts), $seed % 16 == 4 ? map({ schedule($_, pick(@workflows)) } 1 .. pick(1, 1, 2)) : () ],
        seed   => rand,
        steps  => pick(15, 30, 60),
        # the setting of that name: 1, 2, 3 or what it is without being set; it is not drawn, so that all else
        # is drawn as before
        window => (1000, 1 .. 3)[ $seed % 13 ] // 1000,
    };
}

# Tags of the workflow: one that start may give, too, and one that reads a parameter.
sub tag {
    my ($workflow) = @_;
    $workflow->{policies}{tags} = [ 'list', 'kept', [ 'text', 'p-', [ 'eq', [ 'var', $workflow->{params}[0]{name} ], undef ] ] ];
}

# Starts at times: every so many seconds, so often.
sub schedule {
    my ($k, $workflow) = @_;
    return {
        schedule => "s$k", every => pick(3, 10, 25), count => pick(2, 3, 5, 8), catchup => pick(0, 1, 1, 2, 5),
        overlap => pick(qw(allow skip queue replace coalesce)), %{ start($workflow) }
    };
}

sub start {
    my ($workflow, @tags) = @_;
    return {
        workflow => $workflow->{name}, @tags ? (tags => \@tags) : (),
        params => { map { $_->{name} => value() } @{ $workflow->{params} } }
    };
}

1;
